package grammar

import (
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// listMove asks for a list, at times once the tools have changed.
func (m *maker) listMove() []scenarios.Step {
	s := m.some((*session).mayBeOpen)
	if s == nil {
		return m.openMove()
	}
	return []scenarios.Step{m.list(s)}
}

// list asks for a list. Where a fault may be in the way, the session may be another one after that.
func (m *maker) list(s *session) scenarios.Step {
	step := scenarios.Step{Op: record.OpList, Session: s.name, What: m.what()}
	if !isSure(s) || !s.server.answers(s.launch) {
		step.Timeout, step.Expect = millis(of(m, 100, 300, 1000)), record.ExpectAny
		s.state, s.shaken = unsure, true
	}
	return step
}

// what is the list that is to be tried, or any.
func (m *maker) what() string {
	switch on := m.Want.On; {
	case m.Want.Op != record.OpList, !m.chance(80):
	case on == "list":
		return ""
	case on == "list-resources":
		return "resources"
	case on == "list-prompts":
		return "prompts"
	}
	return of(m, "", "", "resources", "prompts")
}
