package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// A leak that is not new is no answer to what could not be seen besides.
func TestComparisonOfADoubtfulLeak(t *testing.T) {
	t.Parallel()
	j := verdict.Judged{Verdict: verdict.Verdict{Outcome: verdict.Leak}}
	outcome, _ := gate.OfComparison(&compare.Result{}, []verdict.Judged{j}, gate.MeasuresFail)
	assert.Equal(t, gate.Pass, outcome)
	j.Verdict.Doubts = []record.Doubt{{Code: "x", Text: "the host was gone"}}
	outcome, _ = gate.OfComparison(&compare.Result{}, []verdict.Judged{j}, gate.MeasuresFail)
	assert.Equal(t, gate.Inconclusive, outcome)
}

func TestOutcomeOfRuns(t *testing.T) {
	t.Parallel()
	down := unsure("storm")
	down.Run = &record.Run{Events: []record.Event{{End: &record.End{Reason: record.EndFailed, Stage: record.StageHost}}}}
	for name, c := range map[string]struct {
		runs    []verdict.Judged
		outcome gate.Outcome
		reason  string
	}{
		"none":                {nil, gate.Inconclusive, "0 runs inconclusive"},
		"clean":               {[]verdict.Judged{clean("storm")}, gate.Pass, "clean"},
		"one of two":          {[]verdict.Judged{clean("storm"), unsure("cron")}, gate.Inconclusive, "1 run inconclusive"},
		"leaks above all":     {[]verdict.Judged{leaky("storm"), down, leaky("cron")}, gate.Fail, "2 runs with findings"},
		"the host was no use": {[]verdict.Judged{unsure("cron"), down}, gate.HostFailed, "the host did not start or did not speak its protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outcome, reason := gate.OfRuns(c.runs)
			assert.Equal(t, c.outcome, outcome)
			assert.Equal(t, c.reason, reason)
		})
	}
}
