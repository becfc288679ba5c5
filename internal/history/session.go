package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

type sessionKey struct{ label, name string }

// Session is a session of the host, and all that it was entitled to.
type Session struct {
	Name, Label string
	State       record.SessionState // the latest
	Changes     []SessionChange
}

// SessionChange is a change of a session at a time.
type SessionChange struct {
	T int64
	record.Session
}

// openUntil is when a session that was open at t was not any more.
func (s *Session) openUntil(t int64) int64 {
	for _, c := range s.Changes {
		if c.T > t && c.State != record.SessionOpen {
			return c.T
		}
	}
	return math.MaxInt64
}

func (h *History) session(e *record.Event) {
	key := sessionKey{e.Session.Label, e.Session.Name}
	s := h.byName[key]
	if s == nil {
		s = &Session{Name: key.name, Label: key.label}
		h.byName[key] = s
		h.sessions = append(h.sessions, s)
	}
	s.State = e.Session.State
	s.Changes = append(s.Changes, SessionChange{T: e.T, Session: *e.Session})
}

// Sessions are all sessions, in the order in which they were first heard of. The slice is the caller's.
func (h *History) Sessions() []*Session { return slices.Clone(h.sessions) }

// Session is the session of that name with a server of that label, or nil.
func (h *History) Session(label, name string) *Session { return h.byName[sessionKey{label, name}] }

// Kept is how many servers of each session a host may keep that keeps n of each label on purpose after their sessions have ended: one
// of each session that is over, the latest first, and with what is left of n those of sessions that were opened again since. Sessions that
// have a server come before those whose servers have all ended.
func (h *History) Kept(n int) map[string]int {
	type end struct {
		*Session
		t     int64
		again int // 1: opened again
		gone  int // 1: it has no server
	}
	var ends []end
	for _, s := range h.sessions {
		gone := 1
		if slices.ContainsFunc(h.servers, func(o *Server) bool { return o.Label == s.Label && o.Session == s.Name && o.Alive() }) {
			gone = 0
		}
		for i, c := range s.Changes {
			switch over := c.State == record.SessionEnded; {
			case over && i == len(s.Changes)-1:
				ends = append(ends, end{s, c.T, 0, gone})
			case over && (c.Why == record.WhyClose || c.Why == record.WhyForget):
				ends = append(ends, end{s, c.T, 1, gone})
			}
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Or(a.gone-b.gone, a.again-b.again, cmp.Compare(b.t, a.t)) })
	kept, perLabel := map[string]int{}, map[string]int{}
	for _, e := range ends {
		if perLabel[e.Label]++; perLabel[e.Label] <= n {
			kept[e.Name]++
		}
	}
	return kept
}
