package gate

import (
	"slices"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// NoHost says that a run ended because its host could not be tested.
func NoHost(j *verdict.Judged) bool {
	if j.Run == nil || len(j.Run.Events) == 0 {
		return false
	}
	end := j.Run.Events[len(j.Run.Events)-1].End
	return end != nil && end.Reason == record.EndFailed && end.Stage == record.StageHost
}

// OfRuns is the outcome of runs that are held against nothing, and why.
func OfRuns(judged []verdict.Judged) (Outcome, string) {
	count := map[verdict.Outcome]int{}
	noHost := false
	for i := range judged {
		count[judged[i].Verdict.Outcome]++
		noHost = noHost || NoHost(&judged[i])
	}
	switch {
	case count[verdict.Leak] > 0:
		return Fail, text.Count(count[verdict.Leak], "run") + " with findings"
	case noHost:
		return HostFailed, "the host did not start or did not speak its protocol"
	case count[verdict.Inconclusive] > 0 || len(judged) == 0:
		return Inconclusive, text.Count(count[verdict.Inconclusive], "run") + " inconclusive"
	}
	return Pass, "clean"
}

// OfComparison is the outcome of runs beside earlier ones. A leak that the base
// has too may not be all that there was to see.
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
