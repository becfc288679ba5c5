package compare

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// Unit is what a measure counts.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	Bytes       Unit = "B"
	Processes   Unit = "processes"
)

// floors are changes too small to mean anything, whatever their percentage: a
// scheduler's slice, a few pages, less than one process.
var floors = map[Unit]float64{Nanoseconds: 5e6, Bytes: 1 << 20, Processes: 1}

// meter reads one number off a run; ok is false where the run has none.
type meter struct {
	name string
	unit Unit
	read func(*sight) (v float64, ok bool)
}

// meters are all that is measured. Smaller is better in each.
var meters = []meter{
	{"open", Nanoseconds, func(s *sight) (float64, bool) { return median(s.steps[record.OpOpen]) }},
	{"first response", Nanoseconds, func(s *sight) (float64, bool) { return median(s.responses) }},
	{"close", Nanoseconds, func(s *sight) (float64, bool) { return median(s.steps[record.OpClose]) }},
	{"stop", Nanoseconds, func(s *sight) (float64, bool) {
		return median(slices.Concat(s.steps[record.OpStop], s.steps[record.OpTerm]))
	}},
	{"peak live", Processes, func(s *sight) (float64, bool) { return float64(s.peak), s.servers > 0 }},
	{"host memory", Bytes, func(s *sight) (float64, bool) { return float64(s.hostRSS), s.hostRSS > 0 }},
	{"server memory", Bytes, func(s *sight) (float64, bool) { return float64(s.serverRSS), s.serverRSS > 0 }},
}

// sight is what there is to measure in a run.
type sight struct {
	steps     map[record.Op][]float64 // how long each took, by op; only those that succeeded
	responses []float64               // from birth to the first answered handshake
	servers   int
	peak      int
	hostRSS   int64 // the greatest
	serverRSS int64 // the greatest of one server
}

// look reads a run. It is nil for one that was cut short.
func look(j *verdict.Judged) *sight {
	if j.Run == nil || j.Run.Truncated != "" || len(j.Run.Events) == 0 {
		return nil
	}
	if end := j.Run.Events[len(j.Run.Events)-1].End; end == nil || end.Reason != record.EndDone {
		return nil
	}
	s := &sight{steps: map[record.Op][]float64{}, peak: j.Verdict.PeakLive}
	begun, born := map[int]int64{}, map[record.Identity]bool{}
	for i := range j.Run.Events {
		e := &j.Run.Events[i]
		switch {
		case e.Kind == record.Born && e.Birth != nil:
			born[e.Birth.Identity] = true
		case e.Kind == record.StepBegun && e.Step != nil:
			begun[e.Step.N] = e.T
		case e.Kind == record.StepEnded && e.Step != nil && e.Step.OK:
			if t, ok := begun[e.Step.N]; ok {
				s.steps[e.Step.Op] = append(s.steps[e.Step.Op], float64(e.T-t))
			}
		case e.Census != nil:
			s.weigh(e.Census, born)
		}
	}
	for _, server := range history.Of(j.Run).Servers() {
		s.servers++
		if server.Established != history.Never {
			s.responses = append(s.responses, float64(server.Established-server.Born))
		}
	}
	return s
}

func (s *sight) weigh(c *record.Census, born map[record.Identity]bool) {
	if c.Host != nil {
		s.hostRSS = max(s.hostRSS, c.Host.RSS)
	}
	for i := range c.Processes {
		if p := &c.Processes[i]; born[p.Identity] {
			s.serverRSS = max(s.serverRSS, p.RSS)
		}
	}
}

// measures are a play's, not yet tested.
func (g *pair) measures() []Measure {
	base, head := sights(g.base), sights(g.head)
	var out []Measure
	for _, m := range meters {
		b, h := m.values(base), m.values(head)
		if len(b) == 0 || len(h) == 0 {
			continue
		}
		out = append(out, Measure{Play: g.Play, Name: m.name, Unit: m.unit, Base: b, Head: h})
	}
	return out
}

func (m meter) values(all []*sight) []float64 {
	var out []float64
	for _, s := range all {
		if v, ok := m.read(s); ok {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func sights(runs []*verdict.Judged) []*sight {
	var out []*sight
	for _, j := range runs {
		if s := look(j); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func median(values []float64) (float64, bool) {
	n := len(values)
	if n == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	if n%2 == 1 {
		return sorted[n/2], true
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2, true
}
