package compare

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/group"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// Params are how a comparison is made. The zero value is the usual.
type Params struct {
	Alpha     float64 // the chance, over all tests together, to call anything changed that is not; 0 is 0.05
	Tolerance float64 // a change of the median by less than this fraction is none; 0 is 0.25
}

// The usual.
const (
	defaultAlpha     = 0.05
	defaultTolerance = 0.25
)

// Play is a scenario on a host.
type Play struct {
	Scenario string `json:"scenario"`
	Host     string `json:"host"`
}

// String is "storm on exact".
func (p Play) String() string { return p.Scenario + " on " + p.Host }

// PlayOf is what a run has played. A run that is not there has played nothing.
func PlayOf(j *verdict.Judged) Play {
	if j.Run == nil {
		return Play{}
	}
	return Play{Scenario: j.Run.Header.Scenario.Name, Host: j.Run.Header.Host.Name}
}

func (p Play) compare(q Play) int {
	return cmp.Or(cmp.Compare(p.Scenario, q.Scenario), cmp.Compare(p.Host, q.Host))
}

// Result is what two sets of runs show beside each other.
type Result struct {
	Base, Head int // runs
	Findings   []Finding
	Counts     []Count   // those that differ
	Measures   []Measure // in the order of the plays
	Tests      int       // how many measures were tested: Holm's correction is over all of them
	Need       int       // how many runs a side needs, so that a change could be shown in that many tests
	Notes      []string  // what was left out, and why
	Renamed    *Renamed  // the sides had a host each, of different names
}

// Renamed says that the base's host is compared with another.
type Renamed struct{ From, To string }

// pair is a play with its runs on both sides.
type pair struct {
	Play
	base, head []*verdict.Judged
}

// Runs compares head with base.
func Runs(base, head []verdict.Judged, p Params) Result {
	if p.Alpha <= 0 {
		p.Alpha = defaultAlpha
	}
	if p.Tolerance <= 0 {
		p.Tolerance = defaultTolerance
	}
	r := Result{Base: len(base), Head: len(head), Renamed: renamed(base, head)}
	for _, g := range pairs(base, head, r.Renamed) {
		r.Findings = append(r.Findings, g.findings()...)
		if len(g.base) == 0 || len(g.head) == 0 {
			r.Notes = append(r.Notes, g.missing())
			continue
		}
		if note := g.unlike(); note != "" {
			r.Notes = append(r.Notes, note)
			continue
		}
		r.Counts = append(r.Counts, g.counts()...)
		r.Measures = append(r.Measures, g.measures()...)
	}
	slices.SortStableFunc(r.Findings, byState)
	r.test(p)
	return r
}

// Fails says that head is worse than base: a new finding that is an error. With
// slower, a time or a size that has grown counts as well.
func (r *Result) Fails(slower bool) bool {
	bad := func(f Finding) bool { return f.State == New && f.IsError() }
	worse := func(m Measure) bool { return m.Change == Worse }
	return slices.ContainsFunc(r.Findings, bad) || slower && slices.ContainsFunc(r.Measures, worse)
}

func renamed(base, head []verdict.Judged) *Renamed {
	from, to := hosts(base), hosts(head)
	if len(from) != 1 || len(to) != 1 || from[0] == to[0] {
		return nil
	}
	return &Renamed{From: from[0], To: to[0]}
}

func hosts(runs []verdict.Judged) []string {
	names, _ := group.By(judged(runs), func(j *verdict.Judged) string { return j.Run.Header.Host.Name })
	return names
}

// judged are those of the runs that are there.
func judged(runs []verdict.Judged) (all []*verdict.Judged) {
	for i := range runs {
		if runs[i].Run != nil {
			all = append(all, &runs[i])
		}
	}
	return all
}

// pairs are the plays of both sides, in the order of head, then of base.
func pairs(base, head []verdict.Judged, other *Renamed) []*pair {
	headPlays, heads := group.By(judged(head), PlayOf)
	basePlays, bases := group.By(judged(base), func(j *verdict.Judged) Play {
		p := PlayOf(j)
		if other != nil {
			p.Host = other.To
		}
		return p
	})
	var all []*pair
	plays, _ := group.By(slices.Concat(headPlays, basePlays), func(p Play) Play { return p })
	for _, p := range plays {
		all = append(all, &pair{p, bases[p], heads[p]})
	}
	return all
}

func (g *pair) missing() string {
	side := "base"
	if len(g.head) == 0 {
		side = "head"
	}
	return g.Scenario + " on " + g.Host + ": no run of it in " + side
}

// unlike says why numbers of the two sides may not be held against each other.
func (g *pair) unlike() string {
	name := g.Scenario + " on " + g.Host + ": "
	b, h := &g.base[0].Run.Header, &g.head[0].Run.Header
	for _, j := range slices.Concat(g.base, g.head) {
		if j.Run.Header.Scenario.Source != h.Scenario.Source {
			return name + "the scenario itself has changed; only findings are compared"
		}
	}
	if b.System.OS != h.System.OS || b.System.Arch != h.System.Arch || b.System.CPUs != h.System.CPUs {
		return name + "the machines differ (" + machine(b) + ", now " + machine(h) + "); only findings are compared"
	}
	return ""
}
