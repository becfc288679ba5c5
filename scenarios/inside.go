package scenarios

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// outside are the laws that only a host of its own can be judged by: its end can't be watched from inside, and its
// descriptors and its memory are those of all that runs in the process.
var outside = []string{"L2", "L5", "L6"}

// Inside is the scenario for a host that is the caller's own process, such as that of a test. It fails where nothing of
// the scenario is left. Without calls, the host only opens and closes sessions.
func (s *Scenario) Inside(calls bool) (*Scenario, error) {
	why := ""
	laws := slices.DeleteFunc(slices.Clone(s.Laws), func(id string) bool { return slices.Contains(outside, id) })
	switch {
	case endsOrRestarts(s.Steps):
		why = "it ends the host"
	case s.Place != "" || s.Limits.NoFile > 0:
		why = "it asks for a place or a limit of the host"
	case len(laws) == 0 && len(s.Laws) > 0:
		why = "it is about the end of the host, or about its memory and descriptors"
	case !calls && (s.faultsOnCalls() || anyStep(s.Steps, isAboutCalls)):
		why = "it calls tools"
	}
	if why != "" {
		return nil, fmt.Errorf("scenario %s cannot run in the caller's own process: %s", s.Name, why)
	}
	inside := *s
	inside.Laws = laws
	if !calls {
		inside.Steps = withoutCalls(s.Steps)
	}
	return &inside, nil
}

// faultsOnCalls reports whether a server does something wrong when a tool is called.
func (s *Scenario) faultsOnCalls() bool {
	return slices.ContainsFunc(s.Servers, func(server Server) bool {
		return slices.ContainsFunc(server.Script.Faults, func(f fakeserver.Fault) bool { return f.On == "call" })
	})
}

func isAboutCalls(s Step) bool { return s.Op == record.OpTick || s.Op == record.OpCall && s.Defining }

func withoutCalls(steps []Step) []Step {
	var kept []Step
	for _, s := range steps {
		if s.Op == record.OpCall {
			continue
		}
		s.Steps, s.Lanes = withoutCalls(s.Steps), slices.Clone(s.Lanes)
		for i := range s.Lanes {
			s.Lanes[i] = withoutCalls(s.Lanes[i])
		}
		kept = append(kept, s)
	}
	return kept
}
