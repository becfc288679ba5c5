package refhost

import (
	"maps"
	"os/exec"
	"slices"
	"sync"
	"syscall"
)

// exact owns each server by the handle that its launch returned and by a
// process group of its own, waits for every exit, and ends exactly the server
// whose session has ended: stdin, time, SIGTERM, time, SIGKILL. On Linux the
// kernel kills the servers of a host that is killed itself.
type exact struct {
	usual
	flaw flaw // none, but for a mutant

	mu   sync.Mutex
	mine map[*connection]*group
}

func newExact(f flaw) *exact { return &exact{flaw: f, mine: map[*connection]*group{}} }

func (*exact) prepare(cmd *exec.Cmd) { setOwnGroup(cmd, true) }

func (e *exact) started(c *connection) {
	g := &group{c: c, flaw: e.flaw}
	e.mu.Lock()
	e.mine[c] = g
	e.mu.Unlock()
	c.reaping.Do(func() { go g.watch() })
}

func (e *exact) ended(c *connection, _ ending) {
	e.mu.Lock()
	g := e.mine[c]
	e.mu.Unlock()
	if g == nil {
		return // somebody else ended it
	}
	g.end()
	e.mu.Lock()
	delete(e.mine, c)
	e.mu.Unlock()
}

// shutdown ends everything, also what is still being connected.
func (e *exact) shutdown([]*connection) {
	e.mu.Lock()
	all := slices.Collect(maps.Keys(e.mine))
	e.mu.Unlock()
	inParallel(all, func(c *connection) { e.ended(c, orderly) })
}

// group is a server and whatever it started in its process group.
type group struct {
	c    *connection
	flaw flaw

	mu   sync.Mutex
	over bool // the leader is being reaped: its id is free for others
}

// watch waits for the leader's exit, whenever that is, so that no zombie
// stays. What is left of the group then serves nobody any more. It is killed
// while the leader is a zombie, which keeps the group's id from being reused.
func (g *group) watch() {
	awaitExit(g.c.cmd.Process)
	g.signal(syscall.SIGKILL)
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	if g.flaw.skipsWait {
		_ = g.c.cmd.Process.Release()
	} else {
		_ = g.c.cmd.Wait()
	}
	close(g.c.exited)
}

func (g *group) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over {
		signalGroup(g.c.cmd.Process, sig)
	}
}

// end is the ladder. All callers return when the server is gone.
func (g *group) end() {
	g.c.closing.Do(func() {
		if !g.endRudely() {
			g.endInOrder()
		}
		if !g.flaw.keepsStdout {
			g.c.stdout.Close()
		}
	})
}

func (g *group) endInOrder() {
	_ = g.c.client.Close() // ends the server's stdin
	if !g.c.exits(exactEOF) {
		g.signal(syscall.SIGTERM)
		if !g.c.exits(exactTerm) {
			g.signal(syscall.SIGKILL)
			<-g.c.exited
		}
	}
}
