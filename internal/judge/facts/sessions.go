package facts

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// HowEnded is how the session of a server that is left behind had ended by t. refused is the close that the host said
// it could not do, if that is how.
func (f *Facts) HowEnded(s *history.Server, t int64) (cause record.Cause, refused *history.Step) {
	changes := f.changesBy(s, t)
	if len(changes) == 0 {
		return record.CauseSessionUnknown, nil
	}
	last := changes[len(changes)-1]
	cancelled := f.Cancelled(s, t) || slices.ContainsFunc(changes, func(c history.SessionChange) bool {
		return c.Why == record.WhyCancel && c.T >= s.Born
	})
	switch {
	case cancelled:
		return record.CauseCallCancelled, nil
	case last.State != record.SessionEnded && last.State != record.SessionEnding:
		return record.CauseSessionOpen, nil
	case last.Cut && !f.jobWorked(s):
		return record.CauseCallTimedOut, nil
	case last.Why == record.WhyClose:
		if refused = f.refusedClose(s, t); refused != nil {
			return record.CauseCloseFailed, refused
		}
		return record.CauseSessionClosed, nil
	case last.Why == record.WhyForget:
		return record.CauseSessionForgotten, nil
	case last.Why == record.WhyTick:
		return record.CauseJobDone, nil
	}
	return record.CauseOpenFailed, nil
}

// changesBy are the changes of a server's session by t, up to the end of the one
// that it was launched for: a session of that name may be opened, or closed, again.
func (f *Facts) changesBy(s *history.Server, t int64) (changes []history.SessionChange) {
	for _, c := range f.Changes(s) {
		if c.T > t {
			break
		}
		changes = append(changes, c)
		if c.State == record.SessionEnded && c.T > s.Born {
			break
		}
	}
	return changes
}

// jobWorked says that the job of a server's session came to its end in time.
func (f *Facts) jobWorked(s *history.Server) bool {
	return slices.ContainsFunc(f.Steps(), func(st *history.Step) bool {
		return st.Op == record.OpJob && st.Session == s.Session && st.OK && st.Ended >= s.Born
	})
}

// refusedClose is the last close of a server's session by t, if the host said that it could not do it, or nil.
func (f *Facts) refusedClose(s *history.Server, t int64) *history.Step {
	for _, st := range slices.Backward(f.Steps()) {
		if st.Op == record.OpClose && st.Session == s.Session && st.Begun <= t {
			if st.Failed() {
				return st
			}
			return nil
		}
	}
	return nil
}

// Cancelled says that the bench had cancelled a call in the server by t.
func (f *Facts) Cancelled(s *history.Server, t int64) bool {
	return slices.ContainsFunc(f.Steps(), func(st *history.Step) bool {
		return st.Cancelled && st.Op == record.OpCall && st.Session == s.Session && st.Begun >= s.Born && st.Begun <= t
	})
}

// LaunchBegan is when the process was started that became the server, or the launcher in front of it: its certificate
// may come much later. It is unknown for what is behind a launcher that no census has seen.
func (f *Facts) LaunchBegan(s *history.Server) (t int64, known bool) {
	id := s.Birth.Identity
	if !f.IsHost(s.Birth.PPID) {
		for _, look := range f.Censuses() {
			if i := slices.IndexFunc(look.Processes, func(p record.Process) bool { return p.PID == s.Birth.PPID }); i >= 0 {
				return f.startOf(look.Processes[i].Identity, s.Born), true
			}
		}
		return 0, false
	}
	return f.startOf(id, s.Born), true
}

// startOf is when a process started, at the latest. The kernel says it in units of its own; what the run's clock was
// then follows from whoever was seen soonest after his start.
func (f *Facts) startOf(id record.Identity, seen int64) int64 {
	unit := int64(time.Millisecond)
	if f.Header.System.OS == "linux" {
		unit = int64(10 * time.Millisecond)
	}
	zero := seen - int64(id.Start)*unit
	for _, s := range f.servers {
		zero = min(zero, s.Born-int64(s.Birth.Start)*unit)
	}
	for _, h := range f.Hosts() {
		zero = min(zero, h.Started-int64(h.Start)*unit)
	}
	return int64(id.Start)*unit + zero
}

// TellsNothing says that the host could tell of sessions and has told of none: a test that launches servers as it likes. What it
// launched one after another, or side by side, need not be for one connection.
func (f *Facts) TellsNothing() bool {
	return !f.Header.Host.SessionsUnknown() && len(f.Sessions()) == 0 && len(f.Steps()) == 0
}

// OpenedAnew is why the session was opened anew between two births, or "" where it was not.
func (f *Facts) OpenedAnew(s, next *history.Server) (why record.Cause) {
	for _, c := range f.Changes(s) {
		if c.State == record.SessionOpening && c.T > s.Born && c.T <= next.Born {
			why = record.CauseReconnect
			if c.Why == record.WhyReload {
				return record.CauseReload
			}
		}
	}
	return why
}
