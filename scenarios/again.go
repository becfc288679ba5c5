package scenarios

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Soakable says why a scenario cannot be repeated with one host, or "".
func (s *Scenario) Soakable() string {
	has := func(ops ...record.Op) bool {
		return anyStep(s.Steps, func(step Step) bool { return slices.Contains(ops, step.Op) })
	}
	switch {
	case endsOrRestarts(s.Steps):
		return "it ends the host"
	case anyStep(s.Steps, isPatient):
		return "it waits for the host's own time limit"
	case has(record.OpRecycle):
		return "it uses up pids"
	case !has(record.OpOpen, record.OpTick, record.OpBreak):
		return "it asks nothing of the host"
	}
	return ""
}

// Again are the steps of the n-th repetition of a soak, from 1. Sessions and checkpoints of each have names of their own.
func (s *Scenario) Again(n int) []Step { return again(s.Expand(), n) }

func again(steps []Step, n int) []Step {
	steps = slices.Clone(steps)
	for i := range steps {
		step := &steps[i]
		step.Cycle = nil // the repetitions of the soak are the cycles
		step.Session, step.Name = AgainName(step.Session, n), AgainName(step.Name, n)
		step.Steps = again(step.Steps, n)
		step.Lanes = slices.Clone(step.Lanes)
		for k := range step.Lanes {
			step.Lanes[k] = again(step.Lanes[k], n)
		}
	}
	return steps
}

// AgainName is what a session or a checkpoint is called in the n-th repetition of a soak.
func AgainName(name string, n int) string {
	if name == "" || n < 2 {
		return name
	}
	return fmt.Sprintf("%s~%d", name, n)
}
