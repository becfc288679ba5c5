package compare

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

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

// meters are all that is measured, one number of each run. Smaller is better in each.
var meters = []struct {
	name string
	unit Unit
}{
	{"open", Nanoseconds},
	{"first response", Nanoseconds},
	{"close", Nanoseconds},
	{"stop", Nanoseconds},
	{"peak live", Processes},
	{"host memory", Bytes},
	{"server memory", Bytes},
}

// timed are the steps that are measured.
var timed = map[record.Op]string{record.OpOpen: "open", record.OpClose: "close", record.OpStop: "stop", record.OpTerm: "stop"}

// look is what there is to measure in a run, by meter. Of one that was cut short it is nothing.
func look(j *verdict.Judged) map[string][]float64 {
	seen := map[string][]float64{}
	if j.Run == nil || j.Run.Truncated != "" {
		return seen
	}
	h := j.History
	if !h.Done() {
		return seen
	}
	greatest := func(name string, v int64) {
		if v > 0 {
			seen[name] = []float64{max(float64(v), median(seen[name]))}
		}
	}
	greatest("peak live", int64(h.PeakLive()))
	for _, step := range h.Steps() {
		if name := timed[step.Op]; name != "" && step.OK && step.Ended != history.Never && !step.Skipped {
			seen[name] = append(seen[name], float64(step.Ended-step.Begun))
		}
	}
	born := map[record.Identity]int64{}
	for _, server := range h.Servers() {
		if _, twice := born[server.Birth.Identity]; !twice {
			born[server.Birth.Identity] = server.Born
		}
		if server.Established != history.Never { // from birth to the first answered handshake
			seen["first response"] = append(seen["first response"], float64(server.Established-server.Born))
		}
	}
	host, servers := memory(h, born)
	greatest("host memory", host)
	greatest("server memory", servers)
	return seen
}

// memory is the most that the host took at a look, and the most that one of its servers took.
func memory(h *history.History, born map[record.Identity]int64) (host, servers int64) {
	for _, census := range h.Censuses() {
		if census.Host != nil {
			host = max(host, census.Host.RSS)
		}
		for i := range census.Processes {
			p := &census.Processes[i]
			if at, ok := born[p.Identity]; ok && at <= census.T {
				servers = max(servers, p.RSS)
			}
		}
	}
	return host, servers
}

// measures are a play's, not yet tested.
func (g *pair) measures() []Measure {
	base, head := values(g.base), values(g.head)
	var out []Measure
	for _, m := range meters {
		if b, h := base[m.name], head[m.name]; len(b) > 0 && len(h) > 0 {
			out = append(out, Measure{Play: g.Play, Name: m.name, Unit: m.unit, Base: b, Head: h})
		}
	}
	return out
}

// values are those of some runs by meter, ascending.
func values(runs []*verdict.Judged) map[string][]float64 {
	all := map[string][]float64{}
	for _, j := range runs {
		for name, seen := range look(j) {
			all[name] = append(all[name], median(seen))
			slices.Sort(all[name])
		}
	}
	return all
}

// median is the middle of some values, or 0 of none.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// LeastRuns is how many runs a side needs before it is tested at all: with fewer no interval around a median can be told at 95%.
const LeastRuns = 6

// Change is what a test has shown.
type Change string

// The changes.
const (
	Same     Change = "same"     // nothing is shown
	Worse    Change = "worse"    // larger, by more than chance and the tolerance
	Better   Change = "better"   // smaller, likewise
	Untested Change = "untested" // too few runs
)

// Measure is a time or a size of a play, one value for each run.
type Measure struct {
	Play
	Name       string
	Unit       Unit
	Base, Head []float64 // ascending
	Change     Change
	P          float64 // Mann-Whitney, two-sided; 1 where untested
	Holm       float64 // P, corrected for all tests of the comparison
	Delta      float64 // of the medians, as a fraction of base; +Inf from 0
	Effect     float64 // the chance that a run of head is larger than one of base: 0.5 is no effect
	Within     bool    // shown by the test, but within the tolerance
}

// Medians are the middles of both sides.
func (m *Measure) Medians() (base, head float64) { return median(m.Base), median(m.Head) }

// test fills in what the numbers show.
func (r *Result) test(p Params) {
	var tested []*Measure
	for i := range r.Measures {
		m := &r.Measures[i]
		m.P, m.Holm, m.Change = 1, 1, Untested
		m.Delta, m.Effect = delta(m.Medians()), effect(m.Base, m.Head)
		if min(len(m.Base), len(m.Head)) >= LeastRuns {
			m.P = mannWhitney(m.Base, m.Head)
			tested = append(tested, m)
		}
	}
	r.Tests, r.Need = len(tested), needed(max(len(tested), len(r.Measures)), p.Alpha)
	holm(tested)
	for _, m := range tested {
		m.Change, m.Within = m.decide(p)
	}
}

func (m *Measure) decide(p Params) (c Change, within bool) {
	if m.Holm >= p.Alpha {
		return Same, false
	}
	base, head := m.Medians()
	switch {
	case math.Abs(head-base) < floors[m.Unit] || math.Abs(m.Delta) < p.Tolerance:
		return Same, base != head
	case head > base:
		return Worse, false
	}
	return Better, false
}

// mannWhitney is the two-sided p of the U test: exact for small samples, with ties as well.
func mannWhitney(a, b []float64) float64 {
	t := benchmath.DefaultThresholds
	// NewSample sorts in place.
	x, y := benchmath.NewSample(slices.Clone(a), &t), benchmath.NewSample(slices.Clone(b), &t)
	return benchmath.AssumeNothing.Compare(x, y).P
}

// holm corrects the P of all tests together (Holm 1979): the chance that any
// of them is wrong stays below alpha, however they depend on each other.
func holm(tests []*Measure) {
	sorted := slices.Clone(tests)
	slices.SortStableFunc(sorted, func(a, b *Measure) int { return cmp.Compare(a.P, b.P) })
	most := 0.0
	for i, m := range sorted {
		most = max(most, min(1, float64(len(sorted)-i)*m.P))
		m.Holm = most
	}
}

// needed is how many runs a side needs so that the clearest of results, all of
// head above all of base, is shown in that many tests.
func needed(tests int, alpha float64) int {
	for n := LeastRuns; n < 40; n++ {
		if float64(tests)*2/binomial(2*n, n) < alpha {
			return n
		}
	}
	return 40
}

func binomial(n, k int) float64 {
	v := 1.0
	for i := 1; i <= k; i++ {
		v *= float64(n-k+i) / float64(i)
	}
	return math.Round(v)
}

func delta(base, head float64) float64 {
	switch base {
	case head:
		return 0
	case 0:
		return math.Inf(1)
	}
	return head/base - 1
}

// effect is Vargha and Delaney's A: of all pairs, in how many head is larger; ties count half.
func effect(base, head []float64) float64 {
	if len(base) == 0 || len(head) == 0 {
		return 0.5
	}
	larger := 0.0
	for _, b := range base {
		for _, h := range head {
			switch {
			case h > b:
				larger++
			case h == b:
				larger += 0.5
			}
		}
	}
	return larger / float64(len(base)*len(head))
}
