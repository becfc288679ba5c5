package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// lives are all lives of the host: at least one, which may not have started.
func (f *Facts) lives() []*history.Host {
	if hosts := f.Hosts(); len(hosts) > 0 {
		return hosts
	}
	return []*history.Host{f.Host()}
}

// exitBlur is how long before the keeper reaped the host its death may have
// been felt by its servers: the kernel closes its pipes first.
const exitBlur = 2 * time.Second

// OnWatch says that at t the host lived and was not asked to end, so that what happened to a server was the host's doing.
func (f *Facts) OnWatch(t int64) bool {
	h := f.HostAt(t)
	return (h.AskedAt < 0 || t < h.AskedAt) && !f.HostGoing(h, t)
}

// HostGoing says that by t a life of the host had been killed, or had died by itself: the kernel ended what it ended.
func (f *Facts) HostGoing(h *history.Host, t int64) bool {
	at := f.killedAt(h)
	killed := at >= 0 && t >= at
	died := h.Exited >= 0 && h.AskedAt < 0 && t >= h.Exited-f.Scaled(exitBlur, h.Exited)
	return killed || died || f.keeperAt >= 0 && t >= f.keeperAt-f.Scaled(exitBlur, f.keeperAt)
}

// killedAt is when the bench began to kill a life of the host, at once or since it had not ended when it was asked to, or never.
func (f *Facts) killedAt(h *history.Host) int64 {
	if h.AskedOp == record.OpKill {
		return h.AskedAt
	}
	for _, st := range f.Steps() {
		if st.Op.EndsHost() && st.Failed() && st.Begun == h.AskedAt && h.Exit.Signal == "SIGKILL" {
			return st.Ended
		}
	}
	return never
}

// EndedUnasked says that a life of the host ended before it was asked to.
func EndedUnasked(h *history.Host) bool {
	return h.Exited >= 0 && !h.Exit.Asked && (h.AskedAt < 0 || h.Exited < h.AskedAt)
}

// CutShort says that the run did not get to its end.
func (f *Facts) CutShort() bool { return f.End() != nil && !f.Done() }

// Nowhere says that nothing was seen, since the host's place can't be had where the run took place, or no server of
// it could reach the ledger: no more is to be said of it.
func (f *Facts) Nowhere() bool {
	return len(f.servers) == 0 && slices.ContainsFunc(f.Doubts(), func(e *record.Event) bool {
		return e.Doubt.Code == record.DoubtNoPlace || e.Doubt.Code == record.DoubtLedgerNoAccess
	})
}

// HostAlive says that the host had not been reaped at t.
func (f *Facts) HostAlive(t int64) bool {
	h := f.HostAt(t)
	return h.Exited < 0 || t < h.Exited
}

// Signals says that the system of the run has signals: without them nothing asks a process to end but the end of its stdin.
func (f *Facts) Signals() bool { return f.Header.System.OS != record.Windows }

// Zombies says that the system of the run has them: what has died is there until it is waited for.
func (f *Facts) Zombies() bool { return f.Header.System.OS != record.Windows }

// IsCommandsConsole says that a process is the console that the bench has given a command of a oneshot host on Windows, so as to be able
// to ask it to end. It is there as long as a process that shares it, and that one is told of by itself.
func (f *Facts) IsCommandsConsole(p record.Process, all history.Rows) bool {
	return f.Header.Host.Kind == record.KindOneshot && !f.Signals() && strings.EqualFold(p.Comm, "conhost.exe") &&
		!all.Alive(record.Identity{PID: p.PPID})
}
