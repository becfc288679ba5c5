package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// host is a life of the host.
type host struct {
	n       int // 1 is the first
	id      record.Identity
	sid     int
	keeper  int   // pid
	startAt int64 // never: it did not start
	exitAt  int64
	exit    record.Exit
	askedAt int64 // when the bench asked it to end
	askedOp record.Op
	alone   bool // there is no other
}

func newHost(n int) *host {
	return &host{n: n, startAt: never, exitAt: never, askedAt: never, alone: n == 1}
}

func (f *facts) noteStart(e *record.Event) {
	h := f.last()
	if h.startAt != never {
		for _, other := range f.hosts {
			other.alone = false
		}
		h = newHost(h.n + 1)
		f.hosts = append(f.hosts, h)
	}
	h.id, h.sid, h.keeper, h.startAt = e.Process.Identity, e.Process.SID, e.Process.PPID, e.T
}

// last is the host's latest life.
func (f *facts) last() *host { return f.hosts[len(f.hosts)-1] }

// hostAt is the life of the host at t; before the first one, that one.
func (f *facts) hostAt(t int64) *host {
	for _, h := range slices.Backward(f.hosts) {
		if h.startAt <= t {
			return h
		}
	}
	return f.hosts[0]
}

// hostOf is the life that launched a server.
func (f *facts) hostOf(s *history.Server) *host { return f.hosts[min(max(s.Life, 1), len(f.hosts))-1] }

// isHost says that the pid is that of the host, in any life of it.
func (f *facts) isHost(pid int) bool {
	return slices.ContainsFunc(f.hosts, func(h *host) bool { return h.id.PID == pid })
}

// isKeeper says that the pid is that of the process which adopts what the host
// orphans.
func (f *facts) isKeeper(pid int) bool {
	return slices.ContainsFunc(f.hosts, func(h *host) bool { return h.keeper == pid })
}

// leaver is the life of the host that left a process to a later one, or nil:
// then it is one of the life that there was at the checkpoint. What a left one
// has started since is left too.
func (f *facts) leaver(p record.Process, all rows, now *host) *host {
	if by := f.lives.Leaver(p, history.Rows(all), now.n); by != nil {
		return f.hosts[by.N-1]
	}
	return nil
}

// exitBlur is how long before the keeper reaped the host its death may have
// been felt by its servers: the kernel closes its pipes first.
const exitBlur = 2 * time.Second

// onWatch says that at t the host lived and was not asked to end, so that
// what happened to a server was the host's doing.
func (f *facts) onWatch(t int64) bool {
	h := f.hostAt(t)
	if h.askedAt >= 0 && t >= h.askedAt {
		return false
	}
	if h.exitAt >= 0 && h.askedAt < 0 && t >= h.exitAt-int64(exitBlur) {
		return false
	}
	return f.keeperAt < 0 || t < f.keeperAt-int64(exitBlur)
}

// hostAlive says that the host had not been reaped at t.
func (f *facts) hostAlive(t int64) bool {
	h := f.hostAt(t)
	return h.exitAt < 0 || t < h.exitAt
}

// name is the host in a sentence, which life of it where there are several.
func (h *host) name() string {
	if h.alone {
		return "the host"
	}
	return fmt.Sprintf("life %d of the host", h.n)
}

// how says how the host ended.
func (h *host) how() string {
	exit := fmt.Sprintf("exited with status %d", h.exit.Code)
	if h.exit.Signal != "" {
		exit = "was ended by " + plain(h.exit.Signal)
	}
	switch {
	case h.exitAt < 0:
		return h.name() + " has ended"
	case h.askedOp == record.OpKill:
		return h.name() + " was killed (SIGKILL) at " + clock(h.askedAt)
	case h.askedAt >= 0 && h.exit.Signal == "SIGKILL":
		return h.name() + " did not end when it was asked to and was killed by the bench at " + clock(h.exitAt)
	case h.askedOp == record.OpTerm:
		return fmt.Sprintf("%s got SIGTERM at %s and %s after %s", h.name(), clock(h.askedAt), exit, span(h.exitAt-h.askedAt))
	case h.askedOp == record.OpStop:
		return fmt.Sprintf("%s was asked to stop at %s and %s after %s", h.name(), clock(h.askedAt), exit, span(h.exitAt-h.askedAt))
	}
	return fmt.Sprintf("%s %s at %s without being asked to", h.name(), exit, clock(h.exitAt))
}

// ending is how the host ended, as a cause.
func (h *host) ending() record.Cause {
	switch {
	case h.askedOp == record.OpKill || h.exit.Signal == "SIGKILL":
		return record.CauseHostKilled
	case h.askedAt >= 0:
		return record.CauseHostAsked
	}
	return record.CauseHostEnded
}
