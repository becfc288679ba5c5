package verdict

import (
	"time"

	"github.com/leakbench/leakbench/internal/history"
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

// onWatch says that at t the host lived and was not asked to end, so that what happened to a server was the host's doing.
func (f *facts) onWatch(t int64) bool {
	h := f.HostAt(t)
	if h.AskedAt >= 0 && t >= h.AskedAt {
		return false
	}
	if h.Exited >= 0 && h.AskedAt < 0 && t >= h.Exited-f.scaled(exitBlur, h.Exited) {
		return false
	}
	return f.keeperAt < 0 || t < f.keeperAt-f.scaled(exitBlur, f.keeperAt)
}

// hostAlive says that the host had not been reaped at t.
func (f *facts) hostAlive(t int64) bool {
	h := f.HostAt(t)
	return h.Exited < 0 || t < h.Exited
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
