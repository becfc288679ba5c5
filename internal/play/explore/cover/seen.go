package cover

import (
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
)

// Seen are the cells that a run has filled, in the order of its faults.
func Seen(h *history.History) (all []Cell) {
	seen := map[Cell]bool{}
	for _, srv := range h.Servers() {
		for i := range srv.Faults {
			f := &srv.Faults[i]
			c := Cell{Pair: grammar.Pair{On: string(f.On), Do: string(f.Do)}}
			c.Op, c.State = asking(h, srv, f.T, f.On == record.OnOrder)
			if c.Op != "" && !seen[c] {
				seen[c] = true
				all = append(all, c)
			}
		}
	}
	return all
}

// asking is what the host was asked for last before a time that is about the session of a server, and the state in which it found it.
func asking(h *history.History, srv *history.Server, t int64, order bool) (op record.Op, state State) {
	last := lastAbout(h, srv, t, order)
	if last == nil {
		return "", ""
	}
	op, state = last.Op, stateAt(h, srv, last)
	switch {
	case last.Op == record.OpJob:
		state = New
	case last.Op == record.OpOpen && last.Cancelled && history.By(srv.EOF, t):
		op, state = record.OpCancel, Connecting
	case last.Op.EndsHost() && srv.Life < len(h.Hosts()):
		op = record.OpRestart
	}
	return op, state
}

// lastAbout is the last step before a time that is about the session of a server, or nil.
func lastAbout(h *history.History, srv *history.Server, t int64, order bool) (last *history.Step) {
	for _, s := range h.Steps() {
		if s.Begun <= t && !s.Skipped && isAbout(s, srv) && (s.Op == record.OpBreak) == order {
			last = s
		}
	}
	return last
}

// isAbout says that a step is about the session of a server: it names it, or its label, or ends the host.
func isAbout(s *history.Step, srv *history.Server) bool {
	switch s.Op {
	case record.OpStop, record.OpTerm, record.OpKill, record.OpRestart:
		return true
	case record.OpReload:
		return s.Label == srv.Label
	case record.OpBreak:
		return s.Label == srv.Label && (s.Session == "" || s.Session == srv.Session)
	case record.OpOpen, record.OpCall, record.OpList, record.OpClose, record.OpForget, record.OpJob:
		return s.Label == srv.Label && (s.Session == srv.Session || srv.Session == "")
	}
	return false
}

// stateAt is what the session of a server was when a step began.
func stateAt(h *history.History, srv *history.Server, step *history.Step) State {
	name := srv.Session
	if name == "" {
		name = step.Session
	}
	session := h.Session(srv.Label, name)
	if session == nil { // nobody but the host knows of it
		return Open
	}
	state := New
	for _, c := range session.Changes {
		if c.T >= step.Begun {
			break
		}
		switch c.State {
		case record.SessionOpening:
			state = Connecting
		case record.SessionOpen:
			state = Open
		case record.SessionEnded:
			state = Ended
		}
	}
	if state == Open && inCall(h, srv.Label, name, step) {
		state = InCall
	}
	return state
}

func inCall(h *history.History, label, session string, at *history.Step) bool {
	for _, s := range h.Steps() {
		mine := s != at && s.Op == record.OpCall && s.Label == label && s.Session == session
		if mine && s.Begun < at.Begun && (s.Ended < 0 || s.Ended > at.Begun) {
			return true
		}
	}
	return false
}
