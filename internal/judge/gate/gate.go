// Package gate decides whether a change may go in: which of the runs count, what of their findings is new, listed or known,
// whether the list of known findings still holds, and what that makes together. It also says which runs belong to which of
// several machines, and puts what they found together. It is a pure function of judged runs and of the day.
package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Outcome is the gate's answer.
type Outcome string

// The outcomes, the worst first. Only Pass lets a change in.
const (
	Fail         Outcome = "fail"         // a finding that nobody listed, a stale or expired entry, something slower
	HostFailed   Outcome = "host-failed"  // the host did not start or did not speak its protocol
	Inconclusive Outcome = "inconclusive" // something could not be decided
	Pass         Outcome = "pass"
)

// Measures say what a time or a size that has grown means.
type Measures string

// The choices.
const (
	MeasuresFail Measures = "fail"
	MeasuresWarn Measures = "warn"
	MeasuresOff  Measures = "off"
)

// Params are what a gate is asked.
type Params struct {
	Attempts []Attempt
	Base     []verdict.Judged // nil: there is no baseline
	HasBase  bool
	Known    known.List
	Strict   bool // what the baseline has fails too, unless it is listed
	Now      time.Time
	Measures Measures // "" is MeasuresFail
	Compare  compare.Params
	Names    []string // the scenarios that there are; nil: nobody knows
	Missing  []string // what should have been run and was not
	// NotApplicable are the scenarios that were asked for, and that the host can't be played.
	NotApplicable []NotApplicable
	Idle          bool // this machine had nothing to do, and that is right
}

// Decision is what the gate makes of a finding.
type Decision string

// The decisions.
const (
	New      Decision = "new"
	Expired  Decision = "expired"  // an entry listed it until its day was over
	Unlisted Decision = "unlisted" // in the baseline, listed nowhere, and the gate is strict
	Warning  Decision = "warning"  // new, and the scenario says that it is no error
	Listed   Decision = "listed"
	InBase   Decision = "in the baseline" // listed nowhere, but nothing that this change has brought
	Fixed    Decision = "fixed"           // the baseline had it
)

// Decisions are all of them, the worst first.
func Decisions() []Decision {
	return []Decision{New, Expired, Unlisted, Warning, Listed, InBase, Fixed}
}

// Fails says that a finding with this decision fails the gate.
func (d Decision) Fails() bool { return d == New || d == Expired || d == Unlisted }

// Finding is a finding with what the gate makes of it.
type Finding struct {
	compare.Finding
	Decision Decision
	Entry    *known.Entry // that lists it
	Expired  *known.Entry // that listed it until it expired
}

// Name is how a list of known findings names it.
func (f *Finding) Name() string {
	return strings.Join([]string{f.Scenario, f.Law, f.Fingerprint}, ":")
}

// Flake is a play whose runs do not agree.
type Flake struct {
	compare.Play
	Text string `json:"text"`
}

// Result is what a gate says.
type Result struct {
	Outcome  Outcome
	Reason   string // "1 new finding, 1 stale entry"
	Runs     []verdict.Judged
	Retried  int       // tries that were made again
	Findings []Finding // errors first; what needs doing before what does not
	Entries  []known.Checked
	Strange  []known.Checked // of Entries: their scenario was not played, and none has its name
	Flakes   []Flake
	Unsure   []*verdict.Judged // runs that count and could not be decided
	Missing  []string
	// NotApplicable are the scenarios that were asked for, and that the host can't be played; Lost are those of them that
	// the baseline has runs of.
	NotApplicable, Lost []NotApplicable
	Plays               int
	Compared            *compare.Result // nil without a baseline
	Measures            Measures
}

// Decide is the gate.
func Decide(p Params) Result {
	if p.Measures == "" {
		p.Measures = MeasuresFail
	}
	r := Result{Runs: Final(p.Attempts), Missing: p.Missing, NotApplicable: p.NotApplicable, Measures: p.Measures}
	r.Lost = only(p.NotApplicable, func(n NotApplicable) bool { return slices.ContainsFunc(p.Base, n.wasPlayed) })
	r.Retried = len(p.Attempts) - len(r.Runs)
	c := compare.Runs(p.Base, r.Runs, p.Compare)
	if p.HasBase {
		if p.Measures == MeasuresOff {
			c.Measures, c.Tests = nil, 0
		}
		r.Compared = &c
	}
	r.Findings = decisions(c.Findings, p)
	r.Entries = p.Known.Check(r.Runs, p.Now)
	r.Strange = only(r.Entries, func(e known.Checked) bool { // they may be misspelt: they pardon nothing, and never get stale
		return p.Names != nil && e.State == known.NotRun && !slices.Contains(p.Names, e.Scenario)
	})
	r.Flakes = flakes(p.Attempts, r.Runs)
	plays, _ := lists.GroupBy(r.Runs, func(j verdict.Judged) [2]string {
		return [2]string{compare.PlayOf(&j).Scenario, compare.PlayOf(&j).Host}
	})
	r.Plays = len(plays)
	failed := 0
	for i := range r.Runs {
		if j := &r.Runs[i]; r.undecided(j) {
			r.Unsure = append(r.Unsure, j)
			if noHost(j) {
				failed++
			}
		}
	}
	r.Outcome, r.Reason = r.decide(failed, p.Idle)
	return r
}

// wasPlayed says that an earlier run is of the scenario, whatever the host was called then.
func (n NotApplicable) wasPlayed(j verdict.Judged) bool {
	return compare.PlayOf(&j).Scenario == n.Scenario
}

// undecided says that a run is not to be passed: nothing was found in it, or
// nothing that fails, and what else it would have shown is not known.
func (r *Result) undecided(j *verdict.Judged) bool {
	fails := func(f Finding) bool { return f.Play == compare.PlayOf(j) }
	return j.Verdict.Outcome == verdict.Inconclusive || len(j.Verdict.Doubts) > 0 && !slices.ContainsFunc(r.Failing(), fails)
}

// only are those of which something is so.
func only[T any](all []T, is func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return !is(v) })
}

func decisions(all []compare.Finding, p Params) []Finding {
	var out []Finding
	rest := []Finding{}
	for i := range all {
		f := Finding{Finding: all[i]}
		if !p.HasBase {
			f.Note = ""
		}
		f.Entry = p.Known.Lists(f.Play, &f.Finding.Finding, p.Now)
		switch {
		case f.State == compare.Fixed:
			f.Decision = Fixed
		case f.State == compare.NotRun, f.State == compare.Undecided:
			continue // what could not be decided is told of its run
		case f.Entry != nil:
			f.Decision = Listed
		case f.State == compare.Known && (!p.Strict || !f.IsError()):
			f.Decision = InBase
		case !f.IsError():
			f.Decision = Warning
		default:
			f.Decision, f.Expired = New, p.Known.Expired(f.Play, &f.Finding.Finding, p.Now)
			if f.State == compare.Known {
				f.Decision = Unlisted
			}
			if f.Expired != nil {
				f.Decision = Expired
			}
			out = append(out, f)
			continue
		}
		rest = append(rest, f)
	}
	return append(out, rest...)
}

// Of are the findings with a decision.
func (r *Result) Of(d Decision) []Finding {
	return only(r.Findings, func(f Finding) bool { return f.Decision == d })
}

// Failing are the findings that fail the gate.
func (r *Result) Failing() []Finding {
	return slices.Concat(r.Of(New), r.Of(Expired), r.Of(Unlisted))
}

// Bad are the entries that have to be dealt with.
func (r *Result) Bad() []known.Checked {
	return only(r.Entries, func(e known.Checked) bool { return e.Bad() })
}

// Alone are the bad entries of which no finding tells.
func (r *Result) Alone() []known.Checked {
	return only(r.Bad(), func(e known.Checked) bool {
		of := func(f Finding) bool {
			return f.Expired != nil && f.Expired.Line == e.Line && f.Expired.Column == e.Column
		}
		return !slices.ContainsFunc(r.Findings, of)
	})
}

// Slower are the measures that have grown.
func (r *Result) Slower() []compare.Measure {
	if r.Compared == nil {
		return nil
	}
	return only(r.Compared.Measures, func(m compare.Measure) bool { return m.Change == compare.Worse })
}

func (r *Result) decide(failed int, idle bool) (Outcome, string) {
	slower := 0
	if r.Measures == MeasuresFail {
		slower = len(r.Slower())
	}
	alone := r.Alone()
	stale := len(only(alone, func(e known.Checked) bool { return e.State == known.Stale }))
	bad := reasons{
		{len(r.Of(New)), "new finding", "new findings"},
		{len(r.Of(Expired)), "finding whose entry has expired", "findings whose entries have expired"},
		{len(r.Of(Unlisted)), "unlisted finding", "unlisted findings"},
		{stale, "stale entry", "stale entries"},
		{len(alone) - stale, "expired entry", "expired entries"},
		{slower, "measure grown", "measures grown"},
		{len(r.Lost), "scenario of the baseline is not applicable any more", "scenarios of the baseline are not applicable any more"},
	}
	unsure := reasons{{len(r.Unsure), "run inconclusive", "runs inconclusive"}, {len(r.Missing), "thing not run", "things not run"}}
	switch {
	case bad.text() != "":
		return Fail, append(bad, unsure...).text()
	case failed > 0:
		return HostFailed, "the host could not be tested in " + text.Count(failed, "run")
	case unsure.text() != "":
		return Inconclusive, unsure.text()
	case len(r.Runs) == 0 && !idle:
		return Inconclusive, "nothing was run"
	}
	passed := reasons{
		{len(r.Of(Listed)), "listed finding", "listed findings"},
		{len(r.Of(InBase)), "finding of the baseline", "findings of the baseline"},
	}
	return Pass, cmp.Or(passed.text(), "nothing new")
}

type reasons []struct {
	n         int
	one, many string
}

// text has those of which there are any.
func (all reasons) text() string {
	var parts []string
	for _, r := range all {
		if r.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", r.n, text.Choose(r.n, r.one, r.many)))
		}
	}
	return strings.Join(parts, ", ")
}

// noHost says that a run ended because its host could not be tested.
func noHost(j *verdict.Judged) bool {
	if j.Run == nil || len(j.Run.Events) == 0 {
		return false
	}
	end := j.Run.Events[len(j.Run.Events)-1].End
	return end != nil && end.Reason == record.EndFailed && end.Stage == record.StageHost
}

// OfRuns is the outcome of runs that are held against nothing, and why.
func OfRuns(judged []verdict.Judged) (Outcome, string) {
	count := map[verdict.Outcome]int{}
	down := false
	for i := range judged {
		count[judged[i].Verdict.Outcome]++
		down = down || noHost(&judged[i])
	}
	switch {
	case count[verdict.Leak] > 0:
		return Fail, text.Count(count[verdict.Leak], "run") + " with findings"
	case down:
		return HostFailed, "the host did not start or did not speak its protocol"
	case count[verdict.Inconclusive] > 0 || len(judged) == 0:
		return Inconclusive, text.Count(count[verdict.Inconclusive], "run") + " inconclusive"
	}
	return Pass, "clean"
}

// OfComparison is the outcome of runs beside earlier ones. A leak that the base has too may not be all that there was to see.
func OfComparison(r *compare.Result, head []verdict.Judged, measures Measures) (Outcome, string) {
	unsure := func(j verdict.Judged) bool {
		return j.Verdict.Outcome == verdict.Inconclusive || len(j.Verdict.Doubts) > 0
	}
	switch {
	case r.Fails(false):
		return Fail, "a finding is new"
	case r.Fails(measures == MeasuresFail):
		return Fail, "a time or a size has grown"
	case slices.ContainsFunc(head, unsure):
		return Inconclusive, "a run could not be decided"
	}
	return Pass, "nothing new"
}
