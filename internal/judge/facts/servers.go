package facts

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// Established says that the server had answered a handshake or a call by t. A modern client need not shake hands.
func Established(s *history.Server, t int64) bool {
	if history.By(s.Established, t) {
		return true
	}
	return slices.ContainsFunc(s.Calls, func(c history.Call) bool { return history.By(c.Answered, t) })
}

// CallInFlight says that a call was in the server at t.
func CallInFlight(s *history.Server, t int64) bool {
	return slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Received <= t && !history.By(c.Answered, t) })
}

// Harm is the first thing that was done to a server to end it.
type Harm struct {
	Kind string // killed, terminated, cut-off
	T    int64
	What string
}

// HarmTo is the first end of stdin, signal or death that a server saw. A death after the ledger lost it tells nothing.
func HarmTo(s *history.Server) (Harm, bool) {
	var all []Harm
	if len(s.Signals) > 0 {
		all = append(all, Harm{"terminated", s.Signals[0].T, "caught " + prose.Plain(s.Signals[0].Text)})
	}
	if s.EOF >= 0 {
		all = append(all, Harm{"cut-off", s.EOF, "read the end of its stdin"})
	}
	if s.Died >= 0 {
		all = append(all, Harm{"killed", s.Died, "died unasked, as if killed,"})
	}
	if len(all) == 0 {
		return Harm{}, false
	}
	// A death is recorded after its cause, where both are.
	first := slices.MinFunc(all, func(a, b Harm) int { return cmp.Compare(a.T, b.T) })
	return first, s.Lost < 0 || s.Lost > first.T
}

// SignalFirst is the signal that came while stdin was open: the server asks the kernel when it catches one.
func SignalFirst(s *history.Server) (history.SignalMark, bool) {
	if len(s.Signals) == 0 {
		return history.SignalMark{}, false
	}
	first := s.Signals[0]
	return first, first.Stdin == record.StdinOpen && (s.EOF < 0 || s.EOF > first.T)
}

// SessionKey names a session: two servers may have sessions of one name.
type SessionKey struct{ Label, Name string }

// SessionOf is the session that a server was launched for.
func SessionOf(s *history.Server) SessionKey { return SessionKey{s.Label, s.Session} }

// KeyOf is the session that a step is about.
func KeyOf(st *history.Step) SessionKey { return SessionKey{st.Label, st.Session} }

// Changes are those of a server's session.
func (f *Facts) Changes(s *history.Server) []history.SessionChange {
	if session := f.Session(s.Label, s.Session); session != nil {
		return session.Changes
	}
	return nil
}

// StateAt is the last change of a server's session by t, and when it was.
func (f *Facts) StateAt(s *history.Server, t int64) (record.Session, int64) {
	for _, c := range slices.Backward(f.Changes(s)) {
		if c.T <= t {
			return c.Session, c.T
		}
	}
	return record.Session{}, never
}
