package facts

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
)

// OnSchedule says that a host ended the server of an open session as it says it does: one that was idle, or one that
// it renews. To kill it without a word, or in a call, is on no schedule.
func (f *Facts) OnSchedule(s *history.Server, h Harm) bool {
	if h.Kind == "killed" || CallInFlight(s, h.T) {
		return false
	}
	return f.wasIdle(s, h.T) || f.isRenewal(s, h.T)
}

// wasIdle says that the server had got no call for as long as the host says,
// less a fifth: the clocks of host and bench are not one.
func (f *Facts) wasIdle(s *history.Server, t int64) bool {
	last := s.Born
	for _, c := range s.Calls {
		if c.Received <= t {
			last = max(last, c.Received)
		}
	}
	idle := int64(f.Header.Host.Profile.Idle)
	return idle > 0 && t-last >= idle*4/5
}

// isRenewal says that the host has given the session another server, and not more of them since it was opened than it
// says. A timer need not have begun with the session.
func (f *Facts) isRenewal(s *history.Server, t int64) bool {
	every := int64(f.Header.Host.Profile.Renewal)
	if every <= 0 || !f.isFollowed(s, t) {
		return false
	}
	ended, first := int64(0), s.Born
	for _, o := range f.servers {
		h, harmed := HarmTo(o)
		if SessionOf(o) == SessionOf(s) && harmed && h.T <= t && o.Born <= s.Born && !f.Reopened(o, s) {
			ended, first = ended+1, min(first, o.Born)
		}
	}
	return ended <= (t-first)/every+2
}

// isFollowed says that another server for the session was there soon, unless the host, or the session, ended before that.
func (f *Facts) isFollowed(s *history.Server, t int64) bool {
	soon := t + int64(f.Header.Limits.Settle)
	if !f.OnWatch(soon) || soon > f.Last() {
		return true
	}
	if slices.ContainsFunc(f.Changes(s), func(c history.SessionChange) bool { return c.T > t && c.T <= soon }) {
		return true
	}
	return slices.ContainsFunc(f.servers, func(o *history.Server) bool {
		return o.SharesSession(s) && o.Born > s.Born && o.Born <= soon && Established(o, soon) && !history.By(o.Died, t)
	})
}
