package cover

import (
	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/scenarios"
)

// Asked are the operations that a scenario asks for, each with the states in which it finds a session, whatever its servers do.
func Asked(s *scenarios.Scenario) []Cell {
	a := &aims{sessions: map[string]*aim{}, scripts: map[string][]fakeserver.Fault{}, seen: map[Cell]bool{}, asked: true}
	for _, server := range s.Servers {
		a.scripts[server.Label] = nil
	}
	a.steps(s.Steps)
	return a.all
}
