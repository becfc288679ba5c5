package verdict

import (
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// lives are all lives of the host: at least one, which may not have started.
func (f *facts) lives() []*history.Host {
	if hosts := f.Hosts(); len(hosts) > 0 {
		return hosts
	}
	return []*history.Host{f.Host()}
}

// exitBlur is how long before the keeper reaped the host its death may have
// been felt by its servers: the kernel closes its pipes first.
const exitBlur = 2 * time.Second

// onWatch says that at t the host lived and was not asked to end, so that
// what happened to a server was the host's doing.
func (f *facts) onWatch(t int64) bool {
	h := f.HostAt(t)
	if h.AskedAt >= 0 && t >= h.AskedAt {
		return false
	}
	if h.Exited >= 0 && h.AskedAt < 0 && t >= h.Exited-int64(exitBlur) {
		return false
	}
	return f.keeperAt < 0 || t < f.keeperAt-int64(exitBlur)
}

// hostAlive says that the host had not been reaped at t.
func (f *facts) hostAlive(t int64) bool {
	h := f.HostAt(t)
	return h.Exited < 0 || t < h.Exited
}

// name is the host in a sentence, which life of it where there are several.
func (f *facts) name(h *history.Host) string {
	if len(f.Hosts()) < 2 {
		return "the host"
	}
	return fmt.Sprintf("life %d of the host", h.N)
}

// how says how the host ended.
func (f *facts) how(h *history.Host) string {
	name, exit := f.name(h), fmt.Sprintf("exited with status %d", h.Exit.Code)
	if h.Exit.Signal != "" {
		exit = "was ended by " + prose.Plain(h.Exit.Signal)
	}
	switch {
	case h.Exited < 0:
		return name + " has ended"
	case h.AskedOp == record.OpKill:
		return name + " was killed (SIGKILL) at " + prose.Clock(h.AskedAt)
	case h.AskedAt >= 0 && h.Exit.Signal == "SIGKILL":
		return name + " did not end when it was asked to and was killed by the bench at " + prose.Clock(h.Exited)
	case h.AskedOp == record.OpTerm:
		return fmt.Sprintf("%s got SIGTERM at %s and %s after %s", name, prose.Clock(h.AskedAt), exit, prose.Span(h.Exited-h.AskedAt))
	case h.AskedOp == record.OpStop:
		return fmt.Sprintf("%s was asked to stop at %s and %s after %s", name, prose.Clock(h.AskedAt), exit, prose.Span(h.Exited-h.AskedAt))
	}
	return fmt.Sprintf("%s %s at %s without being asked to", name, exit, prose.Clock(h.Exited))
}

// ending is how the host ended, as a cause.
func ending(h *history.Host) record.Cause {
	switch {
	case h.AskedOp == record.OpKill || h.Exit.Signal == "SIGKILL":
		return record.CauseHostKilled
	case h.AskedAt >= 0:
		return record.CauseHostAsked
	}
	return record.CauseHostEnded
}
