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
	mu   sync.Mutex
	mine map[*connection]*group
}

func newExact() disposer { return &exact{mine: map[*connection]*group{}} }

func (*exact) prepare(cmd *exec.Cmd) { setOwnGroup(cmd) }

func (e *exact) started(c *connection) {
	g := &group{c: c}
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
	c *connection

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
	_ = g.c.cmd.Wait()
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
		_ = g.c.client.Close() // ends the server's stdin
		if !g.c.exits(exactEOF) {
			g.signal(syscall.SIGTERM)
			if !g.c.exits(exactTerm) {
				g.signal(syscall.SIGKILL)
				<-g.c.exited
			}
		}
		g.c.stdout.Close()
	})
}
