package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// A baseline gives each finding its decision. What head did not decide, or not play, is told of the run and not as a finding.
func TestDecisionsBesideABaseline(t *testing.T) {
	t.Parallel()
	warned := leaky("storm")
	warned.Verdict.Outcome, warned.Verdict.Findings[0].Severity = verdict.Clean, record.SeverityWarning
	for name, c := range map[string]struct {
		head verdict.Judged
		want []gate.Decision
	}{
		"gone":       {clean("storm"), []gate.Decision{gate.Fixed}},
		"undecided":  {unsure("storm"), nil},
		"not played": {clean("cron"), nil},
		"a warning":  {warned, []gate.Decision{gate.InBase}},
		"still":      {leaky("storm"), []gate.Decision{gate.InBase}},
	} {
		r := gate.Decide(gate.Params{Attempts: tried(c.head), Base: []verdict.Judged{leaky("storm")}, HasBase: true, Now: today})
		var got []gate.Decision
		for _, f := range r.Findings {
			got = append(got, f.Decision)
		}
		assert.Equal(t, c.want, got, name)
		require.NotNil(t, r.Compared)
		assert.Equal(t, 1, r.Compared.Base)
	}
	r := gate.Decide(gate.Params{Attempts: tried(warned), Now: today})
	assert.Equal(t, gate.Warning, r.Findings[0].Decision)
	assert.Empty(t, r.Findings[0].Note, "without a baseline nothing is said of one")
	assert.Nil(t, r.Compared)
	assert.Empty(t, r.Slower())
	assert.Equal(t, "storm:L1:"+print1, r.Findings[0].Name(), "the name that a list takes")
	r = gate.Decide(gate.Params{Attempts: tried(warned), Base: []verdict.Judged{clean("cron")}, HasBase: true, Now: today})
	assert.Equal(t, "base has no run of this", r.Findings[0].Note)
}

func TestOnlyWhatNobodyListedFails(t *testing.T) {
	t.Parallel()
	var fails []gate.Decision
	for _, d := range gate.Decisions() {
		if d.Fails() {
			fails = append(fails, d)
		}
	}
	assert.Equal(t, []gate.Decision{gate.New, gate.Expired, gate.Unlisted}, fails)
	assert.Len(t, gate.Decisions(), 7)
}

// closing are runs whose one close takes so long.
func closing(took time.Duration) (runs []verdict.Judged) {
	for i := range 7 {
		j := clean("storm")
		end := int64(took) + int64(i)*int64(time.Millisecond)
		j.Run.Events = []record.Event{
			{Kind: record.StepBegun, Step: &record.Step{N: 1, Op: record.OpClose}},
			{T: end, Kind: record.StepEnded, Step: &record.Step{N: 1, Op: record.OpClose, OK: true}},
			{T: end, Kind: record.Ended, End: &record.End{Reason: record.EndDone}},
		}
		j.History = history.Of(j.Run)
		runs = append(runs, j)
	}
	return runs
}

// What has grown fails, is only told, or is not looked at.
func TestMeasures(t *testing.T) {
	t.Parallel()
	for m, c := range map[gate.Measures]struct {
		outcome gate.Outcome
		reason  string
		slower  int
		tests   int
	}{
		"":                {gate.Fail, "1 measure grown", 1, 1},
		gate.MeasuresFail: {gate.Fail, "1 measure grown", 1, 1},
		gate.MeasuresWarn: {gate.Pass, "nothing new", 1, 1},
		gate.MeasuresOff:  {gate.Pass, "nothing new", 0, 0},
	} {
		p := gate.Params{Attempts: gate.Fresh(closing(time.Second)), Base: closing(100 * time.Millisecond), HasBase: true, Measures: m, Now: today}
		r := gate.Decide(p)
		assert.Equal(t, c.outcome, r.Outcome, "%q", m)
		assert.Equal(t, c.reason, r.Reason, "%q", m)
		assert.Len(t, r.Slower(), c.slower, "%q", m)
		assert.Len(t, r.Compared.Measures, c.slower, "%q", m)
		assert.Equal(t, c.tests, r.Compared.Tests, "%q", m)
		p.Base = closing(time.Second)
		same := gate.Decide(p)
		assert.Empty(t, same.Slower(), "as slow as before")
		outcome, _ := gate.OfComparison(r.Compared, nil, m)
		assert.Equal(t, m == gate.MeasuresFail, outcome == gate.Fail, "%q", m)
	}
}

// An entry of which no scenario has the name may be misspelt.
func TestStrangeEntries(t *testing.T) {
	t.Parallel()
	strange := func(names []string, entries ...string) (all []string) {
		for _, e := range gate.Decide(gate.Params{Attempts: tried(leaky("storm")), Known: list(t, entries...), Names: names, Now: today}).Strange {
			all = append(all, e.Scenario)
		}
		return all
	}
	assert.Equal(t, []string{"strom"}, strange([]string{"storm", "cron"}, "strom:L1 "+good, "cron:L1 "+good, "storm:L1 "+good))
	assert.Empty(t, strange(nil, "strom:L1 "+good), "nobody knows the names")
	assert.Empty(t, strange([]string{"cron"}, "storm:L1 "+good), "it was played")
}

// A scenario that the host can't be played any more, and of which the baseline has runs, is lost.
func TestWhatIsNotApplicableAnyMore(t *testing.T) {
	t.Parallel()
	p := gate.Params{Attempts: tried(clean("storm")), NotApplicable: []gate.NotApplicable{{Scenario: "cron", Host: "h"}}, HasBase: true, Now: today}
	p.Base = []verdict.Judged{clean("storm")}
	r := gate.Decide(p)
	assert.Equal(t, gate.Pass, r.Outcome)
	assert.Empty(t, r.Lost)
	p.Base = append(p.Base, clean("cron"))
	r = gate.Decide(p)
	assert.Equal(t, p.NotApplicable, r.Lost)
	assert.NotEqual(t, gate.Pass, r.Outcome)
	assert.Contains(t, r.Reason, "1 scenario of the baseline is not applicable any more")
}

// Plays are counted by scenario and host; repeats and the parts of one are no more of them.
func TestPlaysAreCounted(t *testing.T) {
	t.Parallel()
	other, part := clean("storm"), clean("storm")
	other.Run.Header.Host.Name, part.Run.Header.Scenario.Part = "g", "npx"
	r := gate.Decide(gate.Params{Attempts: gate.Fresh([]verdict.Judged{clean("storm"), clean("storm"), clean("cron"), other, part}), Now: today})
	assert.Equal(t, 3, r.Plays)
	assert.Len(t, r.Runs, 5)
}

// A run without a verdict is unsure, whatever it says; only one whose host could not be tested is the host's failure.
func TestUnsureRuns(t *testing.T) {
	t.Parallel()
	j := clean("storm")
	j.Verdict.Outcome = verdict.Inconclusive
	r := gate.Decide(gate.Params{Attempts: tried(j), Now: today})
	assert.Equal(t, gate.Inconclusive, r.Outcome)
	require.Len(t, r.Unsure, 1)
	outcome, _ := gate.OfComparison(&compare.Result{}, []verdict.Judged{j}, gate.MeasuresFail)
	assert.Equal(t, gate.Inconclusive, outcome)
	j.Run.Events[0].End = &record.End{Reason: record.EndFailed, Stage: record.StageHost}
	assert.Equal(t, gate.HostFailed, gate.Decide(gate.Params{Attempts: tried(j), Now: today}).Outcome)
}

func TestNoHost(t *testing.T) {
	t.Parallel()
	of := func(end *record.End) *record.Run { return &record.Run{Events: []record.Event{{End: end}}} }
	down := unsure("storm")
	down.Run = of(&record.End{Reason: record.EndFailed, Stage: record.StageHost})
	outcome, _ := gate.OfRuns([]verdict.Judged{down})
	assert.Equal(t, gate.HostFailed, outcome)
	outcome, _ = gate.OfRuns([]verdict.Judged{down, unsure("cron")})
	assert.Equal(t, gate.HostFailed, outcome, "also where another run comes after it")
	for name, run := range map[string]*record.Run{
		"no file":        nil,
		"no event":       {},
		"no end":         of(nil),
		"the keeper":     of(&record.End{Reason: record.EndFailed, Stage: record.StageKeeper}),
		"it was stopped": of(&record.End{Reason: record.EndInterrupted, Stage: record.StageHost}),
	} {
		j := unsure("storm")
		j.Run = run
		outcome, _ := gate.OfRuns([]verdict.Judged{j})
		assert.Equal(t, gate.Inconclusive, outcome, name)
	}
}

func TestANewFindingFailsAComparison(t *testing.T) {
	t.Parallel()
	head := []verdict.Judged{leaky("storm")}
	r := compare.Runs([]verdict.Judged{clean("storm")}, head, compare.Params{})
	outcome, reason := gate.OfComparison(&r, head, gate.MeasuresFail)
	assert.Equal(t, gate.Fail, outcome)
	assert.Equal(t, "a finding is new", reason)
	r = compare.Runs(closing(100*time.Millisecond), closing(time.Second), compare.Params{})
	_, reason = gate.OfComparison(&r, nil, gate.MeasuresFail)
	assert.Equal(t, "a time or a size has grown", reason)
}

func TestRates(t *testing.T) {
	t.Parallel()
	rates := func(runs ...verdict.Judged) string { return gate.Rates(&compare.Repeats(runs)[0]) }
	assert.Equal(t, "a leak in 1 of 2 runs (50%, 95% interval 9% to 91%), 1 inconclusive", rates(clean("storm"), leaky("storm"), unsure("storm")))
	assert.Equal(t, "a leak in 0 of 1 runs (0%, 95% interval 0% to 79%)", rates(clean("storm")))
	assert.Equal(t, "no run could be decided, 1 inconclusive", rates(unsure("storm")))
	assert.Equal(t, "unknown", gate.Percent(compare.RateOf(0, 0)))
	flakes := func(runs ...verdict.Judged) int {
		return len(gate.Decide(gate.Params{Attempts: gate.Fresh(runs), Now: today}).Flakes)
	}
	assert.Equal(t, 0, flakes(clean("storm"), clean("storm")))
	assert.Equal(t, 1, flakes(clean("storm"), unsure("storm")), "one of them could not be decided")
	assert.Equal(t, known.NotRun, gate.Decide(gate.Params{Known: list(t, "storm "+good), Now: today}).Entries[0].State)
}
