package history

import (
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
