package compare_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// What makes a state less than sure is said, and nothing where it is sure.
func TestNotes(t *testing.T) {
	t.Parallel()
	found := []verdict.Finding{leak("x")}
	for name, c := range map[string]struct {
		base, head []verdict.Judged
		state      compare.State
		note       string
	}{
		"new":                       {runs(made{}), runs(made{findings: found}), compare.New, ""},
		"new beside a doubt":        {runs(made{}, made{doubts: 1}), runs(made{findings: found}), compare.New, "base could not be decided in each run, so it may have had it"},
		"known":                     {runs(made{findings: found}), runs(made{findings: found}), compare.Known, ""},
		"fixed":                     {runs(made{findings: found}, made{findings: found}), runs(made{}), compare.Fixed, ""},
		"fixed, and now and then":   {runs(made{findings: found}, made{}), runs(made{}), compare.Fixed, "base did not show it in each run either"},
		"fixed, and base in doubt":  {runs(made{findings: found, doubts: 1}), runs(made{}), compare.Fixed, ""},
		"undecided beside a doubt":  {runs(made{findings: found}), runs(made{}, made{doubts: 1}), compare.Undecided, "not seen, but head could not be decided in each run"},
		"head did not play it then": {runs(made{findings: found}), nil, compare.NotRun, ""},
	} {
		f := find(t, compare.Runs(c.base, c.head, compare.Params{}), "x")
		assert.Equal(t, c.state, f.State, name)
		assert.Equal(t, c.note, f.Note, name)
	}
	assert.Equal(t, "1 of 2", compare.Seen{In: 1, Of: 2}.String())
}

func TestConclusive(t *testing.T) {
	t.Parallel()
	j := made{}.judged()
	assert.True(t, compare.Conclusive(&j))
	j.Verdict.Outcome = verdict.Inconclusive
	assert.False(t, compare.Conclusive(&j), "without a doubt that says why")
	j.Verdict.Outcome, j.Verdict.Doubts = verdict.Leak, []record.Doubt{{Code: "x"}}
	assert.False(t, compare.Conclusive(&j), "a leak, and there may be more")
	assert.False(t, compare.Conclusive(&verdict.Judged{}), "no run")
	assert.Equal(t, compare.Play{}, compare.PlayOf(&verdict.Judged{}))
}

// Findings of one state come in the order of their plays, whatever was run first.
func TestFindingsAreInTheOrderOfThePlays(t *testing.T) {
	t.Parallel()
	found := []verdict.Finding{leak("x")}
	r := compare.Runs(nil, runs(made{scenario: "storm", host: "h", findings: found}, made{scenario: "cron", host: "h", findings: found}, made{scenario: "cron", host: "g", findings: found}), compare.Params{})
	var plays []string
	for _, f := range r.Findings {
		plays = append(plays, f.String())
	}
	assert.Equal(t, []string{"cron on g", "cron on h", "storm on h"}, plays)
}

// Two hosts are held against each other where each side has but one, and another one.
func TestRenamed(t *testing.T) {
	t.Parallel()
	on := func(hosts ...string) (all []verdict.Judged) {
		for _, h := range hosts {
			all = append(all, runs(made{scenario: "storm", host: h})...)
		}
		return all
	}
	assert.Equal(t, &compare.Renamed{From: "a", To: "b"}, compare.Runs(on("a", "a"), on("b"), compare.Params{}).Renamed)
	assert.Nil(t, compare.Runs(on("a"), on("a"), compare.Params{}).Renamed)
	assert.Nil(t, compare.Runs(on("a"), on("b", "c"), compare.Params{}).Renamed)
	assert.Nil(t, compare.Runs(on("a", "b"), on("c"), compare.Params{}).Renamed)
	assert.Nil(t, compare.Runs(on("a"), []verdict.Judged{{}}, compare.Params{}).Renamed, "a run that is not there has no host")
}

// An alias that several runs show is told once.
func TestAnOldFingerprintIsToldOnce(t *testing.T) {
	t.Parallel()
	fresh := leak("fresh")
	fresh.Aliases = []string{"old"}
	r := compare.Runs(runs(made{findings: []verdict.Finding{leak("old")}}), runs(made{findings: []verdict.Finding{fresh}}, made{findings: []verdict.Finding{fresh}}), compare.Params{})
	assert.Equal(t, "base has it under its old fingerprint old", find(t, r, "fresh").Note)
}

// A rate of none and of all ends exactly at 0 and at 1, however many runs there were.
func TestRatesEndWhereTheyMust(t *testing.T) {
	t.Parallel()
	for n := 1; n < 200; n++ {
		assert.Zero(t, compare.RateOf(0, n).Low)
		assert.InDelta(t, 1, compare.RateOf(n, n).High, 0)
		assert.Less(t, compare.RateOf(0, n).High, 1.0)
		assert.Greater(t, compare.RateOf(n, n).Low, 0.0)
	}
	assert.Equal(t, compare.Rate{Seen: compare.Seen{Of: -1}, High: 1}, compare.RateOf(0, -1))
}

func TestFlaky(t *testing.T) {
	t.Parallel()
	flaky := func(r compare.Repeat) bool { return r.Flaky() }
	assert.True(t, flaky(compare.Repeat{Leak: compare.RateOf(1, 2)}))
	assert.True(t, flaky(compare.Repeat{Leak: compare.RateOf(0, 1), Inconclusive: 1}), "one could be decided and one could not")
	assert.False(t, flaky(compare.Repeat{Leak: compare.RateOf(0, 0), Inconclusive: 2}), "none could be decided")
	assert.False(t, flaky(compare.Repeat{Leak: compare.RateOf(2, 2)}))
	r := compare.Repeats(runs(made{findings: []verdict.Finding{leak("x")}}, made{findings: []verdict.Finding{leak("y")}}, made{findings: []verdict.Finding{leak("y")}}))[0]
	assert.True(t, flaky(r), "they leak in different ways")
	assert.Equal(t, compare.RateOf(3, 3), r.Leak)
	assert.Equal(t, "storm on h", r.String())
}

// timed is a run of a server that has answered its handshake after so long, with what the censuses say of its memory.
func timed(answered time.Duration, rss ...int64) verdict.Judged {
	j := made{scenario: "storm", host: "h"}.judged()
	id := record.Identity{PID: 7, Start: 70}
	events := []record.Event{{T: 10e6, Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{{Identity: id, RSS: 1 << 50}}}}}
	add := func(at int64, e record.Event) {
		e.T, e.Server = at, "a#1"
		events = append(events, e)
	}
	add(20e6, record.Event{Kind: record.Born, Birth: &record.Birth{Identity: id, Label: "a", Launch: 1}})
	add(20e6+int64(answered), record.Event{Kind: record.RPC, RPC: &record.RPCInfo{Method: record.MethodInitialize, ID: "0", Phase: record.PhaseAnswered}})
	for _, v := range rss {
		events = append(events, record.Event{T: 1e9, Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{{Identity: id, RSS: v}}}})
	}
	events = append(events, record.Event{T: 2e9, Kind: record.StepSkipped, Step: &record.Step{N: 9, Op: record.OpClose}},
		record.Event{T: 2e9, Kind: record.Ended, End: &record.End{Reason: record.EndDone}})
	for i := range events {
		events[i].Seq = int64(i + 1)
	}
	j.Run.Events = events
	j.History = history.Of(j.Run)
	return j
}

// A first answer counts from the birth of the server, and its memory from there, too: what had its pid before is another.
func TestWhatIsMeasuredOfAServer(t *testing.T) {
	t.Parallel()
	r := compare.Runs([]verdict.Judged{timed(30*time.Millisecond, 5<<20, 3<<20)}, []verdict.Judged{timed(50*time.Millisecond, 9<<20)}, compare.Params{})
	m := named(t, r, "first response")
	assert.Equal(t, []float64{30e6}, m.Base)
	assert.Equal(t, []float64{50e6}, m.Head)
	assert.Equal(t, []float64{5 << 20}, named(t, r, "server memory").Base)
	for _, m := range r.Measures {
		assert.NotEqual(t, "close", m.Name, "a step that was skipped took no time")
	}
}

// Measures are those of runs that were played to their end, and that both sides have; their values are ascending.
func TestWhatIsNotMeasured(t *testing.T) {
	t.Parallel()
	cut := closes(10)
	cut[0].Run.Truncated = "torn"
	assert.Empty(t, compare.Runs(cut, closes(10), compare.Params{}).Measures)
	assert.Empty(t, compare.Runs(closes(10), cut, compare.Params{}).Measures)
	assert.Equal(t, []float64{1e6, 2e6, 3e6}, named(t, compare.Runs(closes(3, 1, 2), closes(1), compare.Params{}), "close").Base)
}

// A change of as much as the tolerance, or of the least that is told, is one; a p of as much as alpha shows nothing.
func TestTheLimitsOfAChange(t *testing.T) {
	t.Parallel()
	from := func(ms float64) []verdict.Judged { return closes(ms, ms, ms, ms, ms, ms, ms) }
	assert.Equal(t, compare.Worse, named(t, compare.Runs(from(100), from(125), compare.Params{}), "close").Change, "a quarter more")
	assert.Equal(t, compare.Worse, named(t, compare.Runs(from(10), from(15), compare.Params{}), "close").Change, "5 ms more")
	m := named(t, compare.Runs(from(100), from(200), compare.Params{}), "close")
	assert.Equal(t, compare.Same, named(t, compare.Runs(from(100), from(200), compare.Params{Alpha: m.Holm}), "close").Change)
	assert.Equal(t, compare.Worse, named(t, compare.Runs(from(100), from(200), compare.Params{Alpha: m.Holm * 1.01}), "close").Change)
	m = named(t, compare.Runs(from(0), from(10), compare.Params{}), "close")
	assert.True(t, math.IsInf(m.Delta, 1), "from nothing to something")
	assert.InDelta(t, 0.5, named(t, compare.Runs(from(10), from(10), compare.Params{}), "close").Effect, 0, "ties are no effect")
}

// How many runs would do is told, up to a number that nobody plays.
func TestNeeded(t *testing.T) {
	t.Parallel()
	one := func(alpha float64) int {
		r := compare.Runs(closes(1), closes(1), compare.Params{Alpha: alpha})
		require.Len(t, r.Measures, 3)
		return r.Need
	}
	assert.Equal(t, 6, one(3*2.0/924*1.01), "2 of the 924 ways to mix 6 and 6 runs are as clear")
	assert.Equal(t, 7, one(3*2.0/924))
	assert.Equal(t, 40, one(1e-300))
}
