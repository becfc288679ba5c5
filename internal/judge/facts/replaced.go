package facts

import (
	"math"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// LaunchesAhead says that the host's profile allows it to launch servers ahead of need.
func (f *Facts) LaunchesAhead() bool {
	return f.Header.Host.Profile.Resident > 0 || f.Header.Host.Profile.Spare > 0
}

// LaunchedInVain is when the session of a server had ended for which it was launched all the same, more than so long after, or never.
func (f *Facts) LaunchedInVain(s *history.Server, after int64) int64 {
	state, since := f.StateAt(s, s.Born)
	asked := state.Why == record.WhyPerRequest || state.Why == record.WhyRequest // each request has a server of its own
	if state.State != record.SessionEnded || asked || !f.OnWatch(s.Born) || since < f.HostOf(s).Started {
		return never
	}
	if began, _ := f.LaunchBegan(s); began < since+after || f.usedAfter(s) { // one that is not known is before all others
		return never
	}
	return since
}

// usedAfter says that the session of a server was opened again after its launch and called it: it was launched ahead of need.
func (f *Facts) usedAfter(s *history.Server) bool {
	return slices.ContainsFunc(f.Changes(s), func(c history.SessionChange) bool {
		return c.T > s.Born && c.State == record.SessionOpen && s.Worked(c.T, math.MaxInt64)
	})
}

// NeverReplaced says that a server was ended in order when its session was opened anew, or by an earlier life of the host, and that
// none was launched since, or that it was a probe: nothing was harmed, and the host may launch one when it is called. Without one, the
// run is in doubt.
func (f *Facts) NeverReplaced(cp *Checkpoint, s *history.Server) bool {
	if f.HostOf(s) != f.HostAt(cp.SettledAt) || f.Probe(s) {
		return true
	}
	state, since := f.StateAt(s, s.Died)
	return state.State == record.SessionOpening && s.Born < since && s.EOF >= 0
}

// EndedBefore is when the session of s was opened anew for next, after it had been closed, forgotten, cancelled or
// given up, or never: then next took the place of s.
func (f *Facts) EndedBefore(s, next *history.Server) int64 {
	ended := never
	if next == nil {
		return never
	}
	for _, c := range f.Changes(s) {
		over := c.State == record.SessionEnded || c.State == record.SessionEnding || c.Why == record.WhyCancel
		switch {
		case c.T <= s.Born || c.T > next.Born:
		case over:
			ended = c.T
		case c.State == record.SessionOpening && (ended >= 0 || f.Cancelled(s, c.T)):
			return c.T - 1
		}
	}
	return ended
}

// OpenWithout says that the host, some time after t, called the session open though this server, its newest, was
// gone, or on its way out, and no other was there.
func (f *Facts) OpenWithout(s *history.Server, t int64) bool {
	for _, c := range f.Changes(s) {
		if c.T <= t {
			continue
		}
		return c.State == record.SessionOpen && !slices.ContainsFunc(f.servers, func(o *history.Server) bool {
			return o != s && o.SharesSession(s) && o.LivedAt(c.T)
		})
	}
	return false
}

// DeathSignal is the name of a server's parent death signal, if that is what it was harmed by, or may be.
func DeathSignal(s *history.Server, h Harm) string {
	names := map[int]string{1: "SIGHUP", 2: "SIGINT", 9: "SIGKILL", 15: "SIGTERM"} // alike on each architecture of Linux
	name := names[s.Birth.DeathSignal]
	caught := slices.ContainsFunc(s.Signals, func(m history.SignalMark) bool { return m.T <= h.T && m.Text == name })
	if h.Kind == "killed" && name == "SIGKILL" || h.Kind == "terminated" && caught {
		return name
	}
	return ""
}
