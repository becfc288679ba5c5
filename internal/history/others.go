package history

import "github.com/leakbench/leakbench/internal/record"

// Other is a process below the host that is neither the host nor a server. The
// censuses alone know it, so its times are as exact as those are frequent.
type Other struct {
	record.Process // as it was first seen; a zombie, if it was seen as one later
	First, Last    int64
	Reaped         int64 // by the keeper, or Never
}

// Others are the other processes of a whole run, at most so many of them, in the order in which they were first seen.
func (h *History) Others(most int) []*Other {
	var all []*Other
	index := map[record.Identity]*Other{}
	for i := range h.events {
		e := &h.events[i]
		if e.Kind == record.Reaped && e.Process != nil {
			if o := index[e.Process.Identity]; o != nil {
				o.Reaped = e.T
			}
		}
		if e.Census == nil {
			continue
		}
		for _, p := range e.Census.Processes {
			o := index[p.Identity]
			switch {
			case o != nil:
				o.Last = e.T
				if p.State == record.StateZombie {
					o.State = p.State
				}
			case len(all) < most && h.ServerOf(p.Identity) == nil && !h.IsHost(p.PID):
				o = &Other{Process: p, First: e.T, Last: e.T, Reaped: Never}
				index[p.Identity], all = o, append(all, o)
			}
		}
	}
	return all
}

// EvidenceAt is when evidence on a process was first taken, not before from, in a whole run; Never, if it was not.
func (h *History) EvidenceAt(id record.Identity, from int64) int64 {
	for i := range h.events {
		e := &h.events[i]
		if e.Kind != record.EvidenceTaken || e.T < from {
			continue
		}
		for k := range e.Evidence {
			if e.Evidence[k].Identity == id {
				return e.T
			}
		}
	}
	return Never
}
