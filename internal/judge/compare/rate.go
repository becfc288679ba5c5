package compare

import (
	"math"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/verdict"
)

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

// Repeats are the plays with the rates of their findings, in the order of
// their first runs. A leak that was seen counts, doubts or not; a run without
// one counts only where it could be decided.
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
