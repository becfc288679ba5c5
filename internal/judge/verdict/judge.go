// Package verdict says what a run shows: which laws the host kept, which it
// broke, and why, or that the run does not allow a verdict. It is a function
// of the run alone: the same file gives the same verdict on any machine, years
// later.
//
// Each law has a file of its own. A law looks at the facts and reports
// breaches, one for each process or measurement; breaches with one cause
// become one finding.
package verdict

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// judge is how a law is judged. It adds its breaches to the facts.
type judge func(*facts) LawResult

// judges are how the laws are judged, in the order of Laws. It matters in one
// place: L9 and L10 ask which sessions L3 found harmed.
var judges = map[string]judge{
	"L1":  judgeFlat,
	"L2":  judgeLeft,
	"L3":  judgeCollateral,
	"L4":  judgeReaped,
	"L5":  judgeHandles,
	"L6":  judgeMemory,
	"L7":  judgeSpawning,
	"L8":  judgeShutdown,
	"L9":  judgeGraceful,
	"L10": judgeRecovers,
}

// Judge judges a run. It never fails: a run that shows too little is
// Inconclusive, with the doubts that say why.
func Judge(run *record.Run) Verdict {
	if run == nil {
		run = &record.Run{Truncated: "there is no run"}
	}
	f := gather(run)
	v := Verdict{Findings: []Finding{}, Spawned: len(f.servers), PeakLive: f.lives.PeakLive(), Left: f.left()}
	for _, law := range Laws() {
		v.Laws = append(v.Laws, f.judgeLaw(law))
	}
	v.Doubts = f.allDoubts()
	v.Findings = f.findings()
	v.Outcome = outcome(v)
	return v
}

func (f *facts) judgeLaw(law Law) LawResult {
	r := judges[law.ID](f)
	switch {
	case f.severity(law.ID) == record.SeverityOff:
		r = LawResult{Status: LawNotJudged, Reason: "this scenario does not ask for it"}
	case r.Reason != "":
		r.Status = LawNotJudged
	case f.broke(law.ID):
		r.Status = LawBroken
	case f.untested() != "":
		r = LawResult{Status: LawNotJudged, Reason: f.untested()}
	default:
		r.Status = LawKept
	}
	r.Law, r.Name = law.ID, law.Name
	return r
}

// untested says why no law can be called kept in this run, or "".
func (f *facts) untested() string {
	switch {
	case f.truncated != "" || f.end == nil:
		return "the file is not complete"
	case f.end.Reason != record.EndDone:
		return "the run was cut short"
	case f.nowhere():
		return "the host can't be put where the scenario wants it"
	case len(f.servers) == 0:
		return "the host launched no server"
	}
	return ""
}

func outcome(v Verdict) Outcome {
	isError := func(f Finding) bool { return f.Severity == record.SeverityError }
	switch {
	case slices.ContainsFunc(v.Findings, isError):
		return Leak
	case len(v.Doubts) > 0:
		return Inconclusive
	}
	return Clean
}

// severity is how a breach of a law counts in this scenario.
func (f *facts) severity(law string) record.Severity {
	switch s := f.header.Limits.Severity[law]; s {
	case record.SeverityError, record.SeverityWarning, record.SeverityOff:
		return s
	}
	if warned[law] {
		return record.SeverityWarning
	}
	return record.SeverityError
}

// warned are the laws whose breach is a warning where the scenario does not
// say otherwise: nothing is left behind, and nobody is harmed, yet.
var warned = map[string]bool{"L5": true, "L6": true, "L9": true}

func (f *facts) broke(law string) bool {
	return slices.ContainsFunc(f.breaches, func(b *breach) bool { return b.law == law })
}

// lawOrder sorts L2 before L10.
func lawOrder(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}
