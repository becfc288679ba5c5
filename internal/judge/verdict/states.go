package verdict

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
)

// State is what the findings say became of a server.
type State struct {
	Overdue  int64 // since when it should have been gone, or history.Never
	Harmed   bool  // it was ended while it was wanted
	Unreaped bool  // it died, and its parent did not wait for it in time
}

// StatesOf are the states of the servers that findings name, by id.
func StatesOf(h *history.History, findings []Finding) map[string]State {
	states, w := map[string]State{}, newWanted(h)
	for i := range findings {
		f := &findings[i]
		for _, id := range f.Servers {
			srv := h.Server(id)
			if srv == nil {
				continue
			}
			s, seen := states[id]
			if !seen {
				s.Overdue = history.Never
			}
			switch law.Of(f.Law).Shows {
			case law.Left:
				if since := w.until(srv, f.Checkpoint); s.Overdue == history.Never || since < s.Overdue {
					s.Overdue = since
				}
			case law.Harmed:
				s.Harmed = true
			case law.Unreaped:
				s.Unreaped = true
			}
			states[id] = s
		}
	}
	return states
}

// wanted answers until when servers were wanted.
type wanted struct {
	*history.History
	launched map[facts.SessionKey][]*history.Server
	ends     map[string][]int64 // of sessions, by name
}

func newWanted(h *history.History) *wanted {
	w := &wanted{History: h, ends: map[string][]int64{}}
	_, w.launched = lists.GroupBy(h.Servers(), facts.SessionOf)
	for _, session := range h.Sessions() {
		for _, c := range session.Changes {
			if c.State == record.SessionEnded {
				w.ends[session.Name] = append(w.ends[session.Name], c.T)
			}
		}
	}
	return w
}

// until is when a server that a finding calls left over stopped being wanted: its session got a newer server, or
// ended, or the host did. Where none of that is known, it is the checkpoint that found it.
func (w *wanted) until(srv *history.Server, checkpoint string) int64 {
	t := w.Last()
	if gone := w.HostOf(srv).Exited; gone >= 0 {
		t = gone
	}
	if i := slices.IndexFunc(w.Checkpoints(), func(c *history.Checkpoint) bool { return c.Name == checkpoint }); i >= 0 {
		t = min(t, w.Checkpoints()[i].Begun)
	}
	if srv.Session == "" {
		return max(t, srv.Born)
	}
	launched := w.launched[facts.SessionOf(srv)]
	if i := slices.IndexFunc(launched, func(o *history.Server) bool { return o.Launch > srv.Launch }); i >= 0 {
		next := launched[i].Established
		if next < 0 {
			next = launched[i].Born
		}
		t = min(t, next)
	}
	if i := slices.IndexFunc(w.ends[srv.Session], func(end int64) bool { return end > srv.Born }); i >= 0 {
		t = min(t, w.ends[srv.Session][i])
	}
	return max(t, srv.Born)
}
