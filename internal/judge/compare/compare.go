// Package compare holds two sets of judged runs against each other: which findings are new, known or fixed, which counts differ,
// and which times and sizes have changed by more than chance and a tolerance allow. It is a pure function of the runs.
//
// The sample is the run: what a run measured several times (each close, each first answer) is one value, the median
// of them, since the closes of one run are not independent of each other.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
)

// Params are how a comparison is made. The zero value is the usual.
type Params struct {
	Alpha     float64 // the chance, over all tests together, to call anything changed that is not; 0 is 0.05
	Tolerance float64 // a change of the median by less than this fraction is none; 0 is 0.25
}

// Play is a scenario on a host.
type Play struct {
	Scenario string `json:"scenario"`
	Host     string `json:"host"`
	Part     string `json:"part,omitempty" jsonschema:"the server that the host was given, where it is given one of the scenario's"`
}

// String is "storm on exact".
func (p Play) String() string { return p.What() + " on " + p.Host }

// What is the scenario, with its part: "wrapper (npx)".
func (p Play) What() string { return record.Scenario{Name: p.Scenario, Part: p.Part}.String() }

// PlayOf is what a run has played. A run that is not there has played nothing.
func PlayOf(j *verdict.Judged) Play {
	if j.Run == nil {
		return Play{}
	}
	return Play{Scenario: j.Run.Header.Scenario.Name, Host: j.Run.Header.Host.Name, Part: j.Run.Header.Scenario.Part}
}

func (p Play) compare(q Play) int {
	return cmp.Or(cmp.Compare(p.Scenario, q.Scenario), cmp.Compare(p.Host, q.Host), cmp.Compare(p.Part, q.Part))
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
	p.Alpha, p.Tolerance = cmp.Or(p.Alpha, 0.05), cmp.Or(p.Tolerance, 0.25)
	r := Result{Base: len(base), Head: len(head), Renamed: renamed(base, head)}
	for _, g := range pairs(base, head, r.Renamed) {
		r.Findings = append(r.Findings, g.findings()...)
		if note := g.unlike(); note != "" {
			r.Notes = append(r.Notes, g.String()+": "+note)
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
	host := func(j *verdict.Judged) string { return j.Run.Header.Host.Name }
	from, _ := lists.GroupBy(judged(base), host)
	to, _ := lists.GroupBy(judged(head), host)
	if len(from) != 1 || len(to) != 1 || from[0] == to[0] {
		return nil
	}
	return &Renamed{From: from[0], To: to[0]}
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
	headPlays, heads := lists.GroupBy(judged(head), PlayOf)
	basePlays, bases := lists.GroupBy(judged(base), func(j *verdict.Judged) Play {
		p := PlayOf(j)
		if other != nil {
			p.Host = other.To
		}
		return p
	})
	var all []*pair
	plays, _ := lists.GroupBy(slices.Concat(headPlays, basePlays), func(p Play) Play { return p })
	for _, p := range plays {
		all = append(all, &pair{p, bases[p], heads[p]})
	}
	return all
}

// unlike says why numbers of the two sides may not be held against each other.
func (g *pair) unlike() string {
	switch {
	case len(g.head) == 0:
		return "no run of it in head"
	case len(g.base) == 0:
		return "no run of it in base"
	}
	b, h := &g.base[0].Run.Header, &g.head[0].Run.Header
	for _, j := range slices.Concat(g.base, g.head) {
		if j.Run.Header.Scenario.Source != h.Scenario.Source {
			return "the scenario itself has changed; only findings are compared"
		}
	}
	if machine(b) != machine(h) {
		return "the machines differ (" + machine(b) + ", now " + machine(h) + "); only findings are compared"
	}
	return ""
}

func machine(h *record.Header) string {
	return fmt.Sprintf("%s/%s with %d CPUs", h.System.OS, h.System.Arch, h.System.CPUs)
}

// Count is a number that is exact in each run. A side on which the runs differ has a range.
type Count struct {
	Play
	Name string `json:"name"`
	Base Range  `json:"base"`
	Head Range  `json:"head"`
}

// Range is the least and the greatest of some runs.
type Range struct {
	Least int `json:"least"`
	Most  int `json:"most"`
}

// Delta is how much more there is, at the most.
func (c Count) Delta() int { return c.Head.Most - c.Base.Most }

// counted are the counts of a verdict.
var counted = []struct {
	name string
	of   func(*verdict.Verdict) int
}{
	{"servers launched", func(v *verdict.Verdict) int { return v.Spawned }},
	{"left at the end", func(v *verdict.Verdict) int { return v.Left }},
	{"leaked", func(v *verdict.Verdict) int {
		return breaking(v, func(f *verdict.Finding) bool { return f.IsError() && shows(f) == law.Left })
	}},
	{"processes that break another law", func(v *verdict.Verdict) int {
		return breaking(v, func(f *verdict.Finding) bool { return f.IsError() && shows(f) != law.Left })
	}},
	{"processes with a warning", func(v *verdict.Verdict) int {
		return breaking(v, func(f *verdict.Finding) bool { return !f.IsError() })
	}},
}

func shows(f *verdict.Finding) law.Subject { return law.Of(f.Law).Shows }

// breaking is how many processes the findings name that are so.
func breaking(v *verdict.Verdict, so func(*verdict.Finding) bool) (n int) {
	for i := range v.Findings {
		if f := &v.Findings[i]; so(f) {
			n += f.Count
		}
	}
	return n
}

// counts are those that differ between the sides.
func (g *pair) counts() []Count {
	var out []Count
	for _, c := range counted {
		row := Count{Play: g.Play, Name: c.name, Base: rangeOf(g.base, c.of), Head: rangeOf(g.head, c.of)}
		if row.Base != row.Head {
			out = append(out, row)
		}
	}
	return out
}

func rangeOf(runs []*verdict.Judged, of func(*verdict.Verdict) int) Range {
	first := of(&runs[0].Verdict)
	r := Range{first, first}
	for _, j := range runs {
		r.Least, r.Most = min(r.Least, of(&j.Verdict)), max(r.Most, of(&j.Verdict))
	}
	return r
}

// State is what became of a finding between base and head.
type State string

// The states.
const (
	New       State = "new"       // head has it, base has not
	Known     State = "known"     // both have it
	Fixed     State = "fixed"     // base had it, and head was looked at without a doubt
	Undecided State = "undecided" // base had it, and head does not tell
	NotRun    State = "not run"   // base had it, and head did not play it
)

// Seen is in how many runs of how many.
type Seen struct {
	In int `json:"in"`
	Of int `json:"of"`
}

func (s Seen) String() string { return fmt.Sprintf("%d of %d", s.In, s.Of) }

// Finding is a cause that either side has shown.
type Finding struct {
	State State
	Play
	verdict.Finding // of the first head run that has it, else of base
	Base, Head      Seen
	Run             *verdict.Judged // where it is from
	Note            string          // what makes the state less than sure
}

func byState(a, b Finding) int {
	order := []State{New, Undecided, NotRun, Known, Fixed}
	return cmp.Or(
		cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State)),
		cmp.Compare(a.Severity, b.Severity), a.compare(b.Play),
	)
}

// findings are those of a play, each once.
func (g *pair) findings() []Finding {
	seen := []Finding{}
	for _, side := range [][]*verdict.Judged{g.head, g.base} {
		for _, j := range side {
			for _, f := range j.Verdict.Findings {
				seen = append(seen, Finding{Play: g.Play, Finding: f, Run: j})
			}
		}
	}
	prints, byPrint := lists.GroupBy(seen, func(f Finding) string { return f.Fingerprint })
	renamed := map[string]bool{}
	var out []Finding
	for _, print := range prints {
		f := byPrint[print][0]
		old := g.oldPrints(byPrint[print])
		for _, was := range old {
			renamed[was] = true
		}
		f.Head, f.Base = seenIn(g.head, print), seenIn(g.base, append(old, print)...)
		f.State, f.Note = g.state(&f)
		if len(old) > 0 {
			f.Note = "base has it under its old fingerprint " + strings.Join(old, ", ")
		}
		out = append(out, f)
	}
	return slices.DeleteFunc(out, func(f Finding) bool { return renamed[f.Fingerprint] })
}

// oldPrints are the fingerprints under which base has a finding of head: base does not have the finding under the name that
// it has in head, and no finding of head has the old name, which would be the same in both.
func (g *pair) oldPrints(same []Finding) (old []string) {
	if print := same[0].Fingerprint; seenIn(g.head, print).In == 0 || seenIn(g.base, print).In > 0 {
		return nil
	}
	for _, f := range same {
		for _, was := range f.Aliases {
			if seenIn(g.base, was).In > 0 && seenIn(g.head, was).In == 0 && !slices.Contains(old, was) {
				old = append(old, was)
			}
		}
	}
	return old
}

// seenIn says in how many runs there is a finding with one of the fingerprints.
func seenIn(runs []*verdict.Judged, prints ...string) Seen {
	has := func(j *verdict.Judged) bool {
		return slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool { return slices.Contains(prints, f.Fingerprint) })
	}
	return Seen{In: count(runs, has), Of: len(runs)}
}

func (g *pair) state(f *Finding) (State, string) {
	doubtful := count(g.base, Conclusive) < len(g.base)
	switch {
	case f.Head.In > 0 && f.Base.In > 0:
		return Known, ""
	case f.Head.In > 0 && len(g.base) == 0:
		return New, "base has no run of this"
	case f.Head.In > 0 && doubtful:
		return New, "base could not be decided in each run, so it may have had it"
	case f.Head.In > 0:
		return New, ""
	case len(g.head) == 0:
		return NotRun, ""
	case count(g.head, Conclusive) < len(g.head):
		return Undecided, "not seen, but head could not be decided in each run"
	case f.Base.In < f.Base.Of:
		return Fixed, "base did not show it in each run either"
	}
	return Fixed, ""
}

// Conclusive says that what a run does not show was not there.
func Conclusive(j *verdict.Judged) bool {
	return j.Run != nil && len(j.Verdict.Doubts) == 0 && j.Verdict.Outcome != verdict.Inconclusive
}

func count[T any](all []T, ok func(T) bool) (n int) {
	for _, v := range all {
		if ok(v) {
			n++
		}
	}
	return n
}

// Rate is how often something was seen in repeated runs, with its 95%
// interval (Wilson 1927), which stays honest for few runs and for none seen.
type Rate struct {
	Seen
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// RateOf is the rate of in out of of. Of none nothing is known: 0 to 1.
func RateOf(in, of int) Rate {
	r := Rate{Seen: Seen{In: in, Of: of}, High: 1}
	if of <= 0 {
		return r
	}
	const z = 1.959963984540054 // the 97.5% point of the normal distribution
	n, p := float64(of), float64(in)/float64(of)
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	r.Low, r.High = max(0, middle-half), min(1, middle+half)
	if in == 0 {
		r.Low = 0
	}
	if in == of {
		r.High = 1
	}
	return r
}

// Repeat is what the repeated runs of a play show together.
type Repeat struct {
	Play
	Leak         Rate // among the runs that could be decided
	Inconclusive int
	Findings     []RepeatFinding
}

// RepeatFinding is how often a cause was seen.
type RepeatFinding struct {
	verdict.Finding
	Rate Rate
}

// Flaky says that the runs do not agree.
func (r *Repeat) Flaky() bool {
	return r.Leak.In > 0 && r.Leak.In < r.Leak.Of || r.Inconclusive > 0 && r.Leak.Of > 0 ||
		slices.ContainsFunc(r.Findings, func(f RepeatFinding) bool { return f.Rate.In < f.Rate.Of })
}

// Repeats are the plays with the rates of their findings, in the order of their first runs. A leak that was seen
// counts, doubts or not; a run without one counts only where it could be decided.
func Repeats(runs []verdict.Judged) []Repeat {
	var out []Repeat
	for _, g := range pairs(nil, runs, nil) {
		r := Repeat{Play: g.Play}
		leaks := count(g.head, func(j *verdict.Judged) bool { return j.Verdict.Outcome == verdict.Leak })
		r.Inconclusive = count(g.head, func(j *verdict.Judged) bool { return j.Verdict.Outcome == verdict.Inconclusive })
		decided := len(g.head) - r.Inconclusive
		r.Leak = RateOf(leaks, decided)
		for _, f := range g.findings() {
			r.Findings = append(r.Findings, RepeatFinding{Finding: f.Finding, Rate: RateOf(f.Head.In, max(decided, f.Head.In))})
		}
		out = append(out, r)
	}
	return out
}
