package scenarios

import (
	"fmt"
	"slices"
)

// outside are the laws that only a host of its own can be judged by: its end can't be watched from inside, and its
// descriptors and its memory are those of all that runs in the process.
var outside = []string{"L2", "L5", "L6"}

// Inside is the scenario for a host that is the caller's own process, such as that of a test. It fails where nothing of
// the scenario is left.
func (s *Scenario) Inside() (*Scenario, error) {
	why := ""
	laws := slices.DeleteFunc(slices.Clone(s.Laws), func(id string) bool { return slices.Contains(outside, id) })
	switch {
	case endsOrRestarts(s.Steps):
		why = "it ends the host"
	case s.Place != "" || s.Limits.NoFile > 0:
		why = "it asks for a place or a limit of the host"
	case anyStep(s.Steps, isPatient):
		why = "it waits for the host's own time limit"
	case len(laws) == 0 && len(s.Laws) > 0:
		why = "it is about the end of the host, or about its memory and descriptors"
	}
	if why != "" {
		return nil, fmt.Errorf("scenario %s cannot run in the caller's own process: %s", s.Name, why)
	}
	inside := *s
	inside.Laws = laws
	return &inside, nil
}
