package cover

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// Aims are the cells that a scenario may fill. Whether it does, the host decides, and time: the guide goes by these, so that the same
// seed makes the same scenarios on each machine.
func Aims(s *scenarios.Scenario) []Cell {
	a := &aims{sessions: map[string]*aim{}, scripts: map[string][]fakeserver.Fault{}, seen: map[Cell]bool{}}
	for _, server := range s.Servers {
		a.scripts[server.Label] = server.Script.Faults
	}
	a.steps(s.Steps)
	return a.all
}

// Asked are the operations that a scenario asks for, each with the states in which it finds a session, whatever its servers do.
func Asked(s *scenarios.Scenario) []Cell {
	a := &aims{sessions: map[string]*aim{}, scripts: map[string][]fakeserver.Fault{}, seen: map[Cell]bool{}, asked: true}
	for _, server := range s.Servers {
		a.scripts[server.Label] = nil
	}
	a.steps(s.Steps)
	return a.all
}

type aim struct {
	label string
	state State
}

type aims struct {
	sessions map[string]*aim
	scripts  map[string][]fakeserver.Fault
	seen     map[Cell]bool
	all      []Cell
	asked    bool // which faults the servers have does not matter
}

func (a *aims) add(p grammar.Pair, op record.Op, state State) {
	c := Cell{Pair: p, Op: op, State: state}
	if !a.seen[c] {
		a.seen[c] = true
		a.all = append(a.all, c)
	}
}

// meets adds what the servers of a label may commit when the host is asked for something.
func (a *aims) meets(label string, op record.Op, state State) {
	if a.asked {
		a.add(grammar.Pair{}, op, state)
		return
	}
	for _, f := range a.scripts[label] {
		for _, row := range rows {
			if row.op == op && slices.Contains(row.moments, f.On) && slices.Contains(row.states, state) {
				a.add(grammar.Pair{On: f.On, Do: f.Do}, op, state)
			}
		}
	}
}

func (a *aims) steps(steps []scenarios.Step) {
	for i := range steps {
		a.step(&steps[i])
	}
}

func (a *aims) step(s *scenarios.Step) {
	session := a.session(s)
	switch s.Op {
	case record.OpOpen:
		a.meets(session.label, s.Op, session.state)
		session.state = Open
		if s.Cancel {
			a.meets(session.label, record.OpCancel, Connecting)
			session.state = Ended
		}
	case record.OpCall, record.OpList:
		a.meets(session.label, s.Op, session.state)
	case record.OpClose, record.OpForget:
		a.meets(session.label, s.Op, session.state)
		session.state = Ended
	case record.OpReload:
		a.ofLabel(s.Label, s.Op)
	case record.OpBreak:
		state := Open
		if session != nil {
			state = session.state
		}
		a.add(grammar.Pair{On: s.With.On, Do: s.With.Do}, s.Op, state)
	case record.OpStop, record.OpTerm, record.OpKill, record.OpRestart:
		a.end(s.Op)
	case record.OpTick:
		for _, j := range s.Jobs {
			a.meets(j.Label, record.OpJob, New)
		}
	case record.OpRepeat:
		a.steps(s.Steps) // the second time finds what the first has left
	case record.OpParallel:
		a.parallel(s.Lanes)
		return
	}
	a.steps(s.Steps)
}

// session is the one of a step, nil where it has none.
func (a *aims) session(s *scenarios.Step) *aim {
	if a.sessions[s.Session] == nil && s.Session != "" {
		a.sessions[s.Session] = &aim{s.Label, New}
	}
	return a.sessions[s.Session]
}

// ofLabel is for a step that is about all sessions of a label.
func (a *aims) ofLabel(label string, op record.Op) {
	for _, s := range a.sessions {
		if s.label == label && s.state != New && s.state != Ended {
			a.meets(label, op, s.state)
		}
	}
}

func (a *aims) end(op record.Op) {
	for label := range a.scripts {
		a.ofLabel(label, op)
		if len(a.sessions) == 0 { // the host has opened its own
			a.meets(label, op, Open)
		}
	}
	for _, s := range a.sessions {
		s.state = Ended
	}
}

// parallel plays the lane that keeps a session busy before the lane that waits for that.
func (a *aims) parallel(lanes [][]scenarios.Step) {
	for _, lane := range lanes {
		if len(lane) == 0 {
			continue
		}
		if lane[0].Op != record.OpAwait {
			a.steps(lane)
			continue
		}
		if session := a.sessions[lane[0].Session]; session != nil {
			if session.state = InCall; lane[0].For == scenarios.AwaitConnect {
				session.state = Connecting
			}
			a.steps(lane[1:])
			if session.state == InCall || session.state == Connecting {
				session.state = Open
			}
		}
	}
}
