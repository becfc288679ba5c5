package refhost

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/await"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// exact owns each server by the handle that its launch returned and by a process group of its own, waits for every exit, and ends
// exactly the server whose session has ended: stdin, time, SIGTERM, time, SIGKILL. On Linux the kernel kills the servers of a
// host that is killed itself, and what has left the group of a server is found by a mark (strays). On Windows a job holds each
// server, and its ladder is: stdin, time, the end of the job.
type exact struct {
	usual
	flaw   catalogue.Flaw // none, but for a mutant
	strays *strays

	mu   sync.Mutex
	mine map[*connection]*group
}

func newExact(f catalogue.Flaw) *exact {
	return &exact{flaw: f, strays: newStrays(f), mine: map[*connection]*group{}}
}

func (e *exact) start(cmd *exec.Cmd) error {
	ownGroup(cmd, e.flaw != catalogue.SharesGroup)
	if e.flaw == catalogue.HandlesInherited {
		defer inherit(cmd, e.stdins())()
	}
	return e.strays.start(cmd, e.flaw != catalogue.NoDeathSignal && e.flaw != catalogue.LeavesOnTerm)
}

// stdins are the write ends of the stdins of all servers.
func (e *exact) stdins() (all []*os.File) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for c := range e.mine {
		all = append(all, c.stdin)
	}
	return all
}

func (e *exact) started(c *connection) {
	g := &group{c: c, flaw: e.flaw, strays: e.strays}
	e.mu.Lock()
	e.mine[c] = g
	e.mu.Unlock()
	c.reaping.Do(func() { go g.watch() })
}

func (e *exact) connected(c *connection) { e.strays.connected(c.cmd) }

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

// group is a server and whatever it started.
type group struct {
	c      *connection
	flaw   catalogue.Flaw
	strays *strays

	mu   sync.Mutex
	over bool // the leader is being reaped: its id is free for others
}

// watch waits for the leader's exit, whenever that is, so that no zombie stays. What is left of the group, or strayed from it,
// then serves nobody any more. It is ended while the leader is a zombie, which keeps the group's id from being reused.
func (g *group) watch() {
	if !await.Exit(g.c.cmd.Process.Pid) {
		_, _ = g.c.cmd.Process.Wait() // a handle keeps it from being mistaken for another one
	}
	g.endStrays()
	g.signal(syscall.SIGKILL)
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	if g.flaw == catalogue.SkipsWait {
		_ = g.c.cmd.Process.Release()
	} else {
		g.strays.wait(g.c.cmd)
	}
	close(g.c.exited)
}

// endStrays gives what the leader left behind the time that a server gets after SIGTERM, and kills it then. It looks
// again until it finds nothing: one that was found may have forked meanwhile.
func (g *group) endStrays() {
	deadline := time.Now().Add(exactTerm)
	asked := map[child]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left := g.strays.of(g.c.cmd)
		if len(left) == 0 {
			return
		}
		for _, c := range left {
			if !asked[c] {
				asked[c] = true
				g.strays.signal([]child{c}, syscall.SIGTERM)
			}
		}
		if time.Now().After(deadline) {
			g.strays.signal(left, syscall.SIGKILL)
		}
		if time.Now().After(deadline.Add(exactTerm)) {
			return
		}
		time.Sleep(pause) // sleep-ok: the deaths of other processes' children send no word
	}
}

func (g *group) signal(sig syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.over {
		g.strays.signalAll(g.c.cmd.Process, sig)
	}
}

// end is the ladder. All callers return when the server is gone.
func (g *group) end() {
	g.c.closing.Do(func() {
		if g.flaw == catalogue.HandlesInherited {
			_ = g.c.client.Close()
			g.c.exits(exactEOF)
			return
		}
		eof, term := g.timeouts()
		g.c.descend(eof, term, g.signal)
		if g.flaw != catalogue.KeepsStdout {
			g.c.stdout.Close()
		}
	})
}

// timeouts are how long a server gets after the end of its stdin, and after SIGTERM. A mutant may leave either out.
func (g *group) timeouts() (eof, term time.Duration) {
	switch g.flaw {
	case catalogue.KillsFirst:
		return 0, 0
	case catalogue.TermsFirst:
		return 0, exactTerm
	case catalogue.Hasty:
		return hastyEOF, 0
	}
	return exactEOF, exactTerm
}
