package history

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// FaultMark is a fault at the time at which it was announced.
type FaultMark struct {
	T int64
	record.Fault
}

// PlannedFault is a fault of a plan with how often it was committed.
type PlannedFault struct {
	record.PlanFault
	Fired int
}

// Faults are the faults of a plan, in its order.
func (h *History) Faults(plan record.Plan) []PlannedFault {
	all := make([]PlannedFault, len(plan.Faults))
	for i, want := range plan.Faults {
		all[i] = PlannedFault{want, h.fired(want)}
	}
	return all
}

func (h *History) fired(want record.PlanFault) (n int) {
	for _, s := range h.servers {
		for i := range s.Faults {
			f := &s.Faults[i]
			launch := cmp.Or(f.Launch, s.Launch)
			due := s.Label == want.Label && (want.Launch <= 0 || launch == want.Launch) && (want.Every <= 0 || launch%want.Every == 0)
			if due && f.On == want.On && f.Do == want.Do {
				n++
			}
		}
	}
	return n
}

// strike marks those whom a fault of another server is about to hit: it was announced before it was committed.
func (h *History) strike(by *Server, e *record.Event) {
	if e.Kind != record.Faulted || len(e.Fault.Targets) == 0 {
		return
	}
	for _, s := range h.servers {
		if s == by || !slices.Contains(e.Fault.Targets, s.pidFor(by)) {
			continue
		}
		if s.Died != Never {
			continue // its pid is another's by now
		}
		s.Faults = append(s.Faults, FaultMark{T: e.T, Fault: record.Fault{Do: e.Fault.Do, Detail: "by " + by.ID, Breaks: true}})
		first(&s.Broken, e.T)
	}
}

// Break is the fault that made the server useless, or nil.
func (s *Server) Break() *FaultMark {
	for i := range s.Faults {
		if s.Faults[i].Breaks {
			return &s.Faults[i]
		}
	}
	return nil
}
