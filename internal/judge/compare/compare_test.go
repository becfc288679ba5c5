package compare_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

func runs(all ...made) []verdict.Judged {
	var out []verdict.Judged
	for _, m := range all {
		if m.scenario == "" {
			m.scenario, m.host = "storm", "h"
		}
		out = append(out, m.judged())
	}
	return out
}

func states(r compare.Result) map[string]compare.State {
	out := map[string]compare.State{}
	for _, f := range r.Findings {
		out[f.Fingerprint] = f.State
	}
	return out
}

func TestFindingsAreNewKnownOrFixed(t *testing.T) {
	t.Parallel()
	warning := leak("w")
	warning.Severity = record.SeverityWarning
	base := runs(made{findings: []verdict.Finding{leak("both"), leak("gone")}}, made{findings: []verdict.Finding{leak("both")}})
	head := runs(made{findings: []verdict.Finding{leak("both"), leak("fresh"), warning}})
	r := compare.Runs(base, head, compare.Params{})
	assert.Equal(t, map[string]compare.State{"both": compare.Known, "gone": compare.Fixed, "fresh": compare.New, "w": compare.New}, states(r))
	assert.True(t, r.Fails(false))
	assert.Equal(t, "fresh", r.Findings[0].Fingerprint, "what matters stands first")
	assert.Equal(t, "base did not show it in each run either", find(t, r, "gone").Note)
	assert.Equal(t, compare.Seen{In: 2, Of: 2}, find(t, r, "both").Base)

	r = compare.Runs(base, runs(made{findings: []verdict.Finding{leak("both"), warning}}), compare.Params{})
	assert.False(t, r.Fails(true), "a warning fails nothing")
}

func find(t *testing.T, r compare.Result, print string) compare.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Fingerprint == print {
			return f
		}
	}
	require.Fail(t, "no finding "+print)
	return compare.Finding{}
}

// What head could not decide is not fixed, and what it did not play neither.
func TestNothingIsFixedThatWasNotLookedAt(t *testing.T) {
	t.Parallel()
	base := runs(made{findings: []verdict.Finding{leak("x")}})
	assert.Equal(t, compare.Undecided, states(compare.Runs(base, runs(made{doubts: 1}), compare.Params{}))["x"])
	assert.Equal(t, compare.Undecided, states(compare.Runs(base, runs(made{}, made{doubts: 1}), compare.Params{}))["x"])
	r := compare.Runs(base, runs(made{scenario: "cron", host: "h"}), compare.Params{})
	assert.Equal(t, compare.NotRun, states(r)["x"])
	assert.Contains(t, r.Notes, "storm on h: no run of it in head")
	assert.Equal(t, compare.Fixed, states(compare.Runs(base, runs(made{}), compare.Params{}))["x"])
}

// A finding of a play that base has not played, or not decided, is new: who
// has not looked has not found it harmless.
func TestWhatBaseDidNotShowIsNew(t *testing.T) {
	t.Parallel()
	head := runs(made{findings: []verdict.Finding{leak("x")}})
	r := compare.Runs(runs(made{scenario: "cron", host: "h"}), head, compare.Params{})
	assert.Equal(t, compare.New, states(r)["x"])
	assert.Equal(t, "base has no run of this", find(t, r, "x").Note)
	r = compare.Runs(runs(made{doubts: 1}), head, compare.Params{})
	assert.Equal(t, compare.New, states(r)["x"])
	assert.Contains(t, find(t, r, "x").Note, "may have had it")
}

// The same fingerprint in another scenario, or on another host, is another
// finding; a host that has another name on each side is the same one.
func TestPlaysAreKeptApart(t *testing.T) {
	t.Parallel()
	base := runs(made{scenario: "storm", host: "a", findings: []verdict.Finding{leak("x")}}, made{scenario: "storm", host: "b"})
	head := runs(made{scenario: "storm", host: "a"}, made{scenario: "storm", host: "b", findings: []verdict.Finding{leak("x")}})
	r := compare.Runs(base, head, compare.Params{})
	require.Len(t, r.Findings, 2)
	assert.Equal(t, compare.New, r.Findings[0].State)
	assert.Equal(t, "b", r.Findings[0].Host)
	assert.Equal(t, compare.Fixed, r.Findings[1].State)

	r = compare.Runs(runs(made{scenario: "storm", host: "v1", findings: []verdict.Finding{leak("x")}}),
		runs(made{scenario: "storm", host: "v2", findings: []verdict.Finding{leak("x")}}), compare.Params{})
	assert.Equal(t, compare.Known, states(r)["x"])
	assert.Equal(t, &compare.Renamed{From: "v1", To: "v2"}, r.Renamed)
}

func TestCountsAreExact(t *testing.T) {
	t.Parallel()
	r := compare.Runs(runs(made{spawned: 4}), runs(made{spawned: 5}, made{spawned: 7}), compare.Params{})
	require.Len(t, r.Counts, 1)
	assert.Equal(t, compare.Count{
		Play: compare.Play{Scenario: "storm", Host: "h"}, Name: "servers launched",
		Base: compare.Range{Least: 4, Most: 4}, Head: compare.Range{Least: 5, Most: 7},
	}, r.Counts[0])
	assert.Equal(t, 3, r.Counts[0].Delta())
	assert.Empty(t, compare.Runs(runs(made{spawned: 4}), runs(made{spawned: 4}), compare.Params{}).Counts)
}

// Numbers of another machine, or of a scenario that was changed, say nothing.
func TestUnlikeRunsAreNotMeasured(t *testing.T) {
	t.Parallel()
	r := compare.Runs(runs(made{cpus: 2}), runs(made{cpus: 4, spawned: 9}), compare.Params{})
	assert.Empty(t, r.Measures)
	assert.Empty(t, r.Counts)
	assert.Equal(t, []string{"storm on h: the machines differ (linux/amd64 with 2 CPUs, now linux/amd64 with 4 CPUs); only findings are compared"}, r.Notes)
	r = compare.Runs(runs(made{source: "a"}), runs(made{source: "b"}), compare.Params{})
	assert.Empty(t, r.Measures)
	assert.Contains(t, r.Notes[0], "the scenario itself has changed")
}

// What is measured is what the host did, in runs that went to their end.
func TestWhatIsMeasured(t *testing.T) {
	t.Parallel()
	one := runs(made{open: 3 * time.Millisecond, close: 20 * time.Millisecond, hostRSS: 5 << 20, serverRSS: 6 << 20})
	r := compare.Runs(one, one, compare.Params{})
	got := map[string][]float64{}
	for _, m := range r.Measures {
		got[m.Name] = m.Head
	}
	assert.Equal(t, map[string][]float64{
		"open": {3e6}, "close": {20e6}, "peak live": {1}, "host memory": {5 << 20}, "server memory": {6 << 20},
	}, got)
	assert.Empty(t, compare.Runs(one, runs(made{cut: true}), compare.Params{}).Measures)
	assert.NotPanics(t, func() { compare.Runs([]verdict.Judged{{}}, one, compare.Params{}) })
}

func TestRealRuns(t *testing.T) {
	t.Parallel()
	exact, naive := saved(t, "storm-exact"), saved(t, "storm-naive")
	r := compare.Runs([]verdict.Judged{exact}, []verdict.Judged{naive}, compare.Params{})
	assert.Equal(t, &compare.Renamed{From: "exact", To: "naive"}, r.Renamed)
	assert.True(t, r.Fails(false))
	for _, f := range r.Findings {
		assert.Equal(t, compare.New, f.State)
	}
	assert.NotEmpty(t, r.Counts)
	var names []string
	for _, m := range r.Measures {
		names = append(names, m.Name)
		assert.Equal(t, compare.Untested, m.Change, "one run shows nothing of a time")
		for _, v := range m.Head {
			assert.Positive(t, v, m.Name)
		}
	}
	assert.Equal(t, []string{"open", "first response", "stop", "peak live", "host memory", "server memory"}, names)

	r = compare.Runs([]verdict.Judged{naive}, []verdict.Judged{exact}, compare.Params{})
	assert.False(t, r.Fails(true))
	for _, f := range r.Findings {
		assert.Equal(t, compare.Fixed, f.State)
	}
	r = compare.Runs([]verdict.Judged{naive}, []verdict.Judged{naive}, compare.Params{})
	assert.False(t, r.Fails(true))
	assert.Empty(t, r.Counts)

	// A file that is not whole proves that nothing is fixed.
	torn := saved(t, "torn")
	torn.Run.Header.Scenario, torn.Run.Header.Host = naive.Run.Header.Scenario, naive.Run.Header.Host
	for _, f := range compare.Runs([]verdict.Judged{naive}, []verdict.Judged{torn}, compare.Params{}).Findings {
		assert.NotEqual(t, compare.Fixed, f.State)
	}
}

func saved(t *testing.T, name string) verdict.Judged {
	t.Helper()
	run, err := record.Read(filepath.Join("..", "..", "..", "testdata", "runs", name+".jsonl"))
	require.NoError(t, err)
	return verdict.NewJudged(run, name)
}

// A finding that base has under an earlier fingerprint is the same finding. The name alone does not make it one: where head still has
// a finding of that name, the name means in both what it says, and where base has the new name too, it could tell them apart.
func TestAFindingUnderItsOldFingerprint(t *testing.T) {
	t.Parallel()
	fresh := leak("fresh")
	fresh.Aliases = []string{"older", "old"}
	type states map[string]compare.State
	for name, c := range map[string]struct {
		base, head []verdict.Finding
		want       states
		note       string
	}{
		"renamed":                   {[]verdict.Finding{leak("old")}, []verdict.Finding{fresh}, states{"fresh": compare.Known}, "base has it under its old fingerprint old"},
		"renamed twice":             {[]verdict.Finding{leak("old"), leak("older")}, []verdict.Finding{fresh}, states{"fresh": compare.Known}, "base has it under its old fingerprint older, old"},
		"head has both":             {[]verdict.Finding{leak("old")}, []verdict.Finding{fresh, leak("old")}, states{"fresh": compare.New, "old": compare.Known}, ""},
		"base has both":             {[]verdict.Finding{leak("old"), leak("fresh")}, []verdict.Finding{fresh}, states{"fresh": compare.Known, "old": compare.Fixed}, ""},
		"another one":               {[]verdict.Finding{leak("other")}, []verdict.Finding{fresh}, states{"fresh": compare.New, "other": compare.Fixed}, ""},
		"head does not show it":     {[]verdict.Finding{leak("old")}, nil, states{"old": compare.Fixed}, ""},
		"base has the newer of two": {[]verdict.Finding{fresh}, []verdict.Finding{leak("old")}, states{"fresh": compare.Fixed, "old": compare.New}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := compare.Runs(runs(made{findings: c.base}, made{}), runs(made{findings: c.head}), compare.Params{})
			got := states{}
			for _, f := range r.Findings {
				got[f.Fingerprint] = f.State
			}
			assert.Equal(t, c.want, got)
			if c.note != "" {
				f := find(t, r, "fresh")
				assert.Equal(t, c.note, f.Note)
				assert.Equal(t, compare.Seen{In: 1, Of: 2}, f.Base)
				assert.Equal(t, compare.Seen{In: 1, Of: 1}, f.Head)
			}
		})
	}
}
