package gate_test

import (
	"strings"
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

const print1 = "0123456789ab"

var today = time.Date(2030, 6, 15, 12, 0, 0, 0, time.UTC)

func clean(scenario string) verdict.Judged {
	run := &record.Run{Header: record.Header{Scenario: record.Scenario{Name: scenario}, Host: record.Host{Name: "h"}}, Events: []record.Event{
		{T: int64(time.Second), Kind: record.Ended, End: &record.End{Reason: "done"}},
	}}
	return verdict.Judged{Run: run, History: history.Of(run), Verdict: verdict.Verdict{Outcome: verdict.Clean}}
}

func leaky(scenario string) verdict.Judged {
	j := clean(scenario)
	j.Verdict.Outcome = verdict.Leak
	j.Verdict.Findings = []verdict.Finding{{Law: "L1", Kind: "superseded", Fingerprint: print1, Severity: record.SeverityError, Count: 1}}
	return j
}

func unsure(scenario string) verdict.Judged {
	j := clean(scenario)
	j.Verdict.Outcome, j.Verdict.Doubts = verdict.Inconclusive, []record.Doubt{{Code: "x", Text: "a doubt"}}
	return j
}

func tried(runs ...verdict.Judged) []gate.Attempt {
	var out []gate.Attempt
	for i, j := range runs {
		out = append(out, gate.Attempt{Judged: j, Repeat: 1, Try: i + 1})
	}
	return out
}

func list(t *testing.T, entries ...string) known.List {
	t.Helper()
	text := "known:\n"
	for _, e := range entries {
		finding, expires, _ := strings.Cut(e, " ")
		text += "  - {finding: " + finding + ", reason: r, expires: " + expires + "}\n"
	}
	l, err := known.Parse("known.yaml", []byte(text))
	require.NoError(t, err)
	return l
}

const good, over = "2030-06-15", "2030-06-14"

// The table of the exit codes, row by row.
func TestAnswers(t *testing.T) {
	t.Parallel()
	base := []verdict.Judged{leaky("storm")}
	warned := leaky("storm")
	warned.Verdict.Outcome, warned.Verdict.Findings[0].Severity = verdict.Clean, record.SeverityWarning
	down := unsure("storm")
	down.Run.Events = []record.Event{{End: &record.End{Reason: record.EndFailed, Stage: record.StageHost}}}
	down.History = history.Of(down.Run)
	doubtful := leaky("storm") // a leak, and then the host was gone
	doubtful.Verdict.Doubts = unsure("storm").Verdict.Doubts
	for name, c := range map[string]struct {
		params gate.Params
		known  []string
		want   gate.Outcome
		reason string
	}{
		"clean":                     {gate.Params{Attempts: tried(clean("storm"))}, nil, gate.Pass, "nothing new"},
		"a warning":                 {gate.Params{Attempts: tried(warned)}, nil, gate.Pass, "nothing new"},
		"found and unlisted":        {gate.Params{Attempts: tried(leaky("storm"))}, nil, gate.Fail, "1 new finding"},
		"found and listed":          {gate.Params{Attempts: tried(leaky("storm"))}, []string{"storm:L1 " + good}, gate.Pass, "1 listed finding"},
		"listed and not found":      {gate.Params{Attempts: tried(clean("storm"))}, []string{"storm:L1 " + good}, gate.Fail, "1 stale entry"},
		"listed, another law found": {gate.Params{Attempts: tried(leaky("storm"))}, []string{"storm:L2 " + good}, gate.Fail, "1 new finding, 1 stale entry"},
		"expired and found":         {gate.Params{Attempts: tried(leaky("storm"))}, []string{"storm:L1 " + over}, gate.Fail, "1 finding whose entry has expired"},
		"expired and not found":     {gate.Params{Attempts: tried(clean("storm"))}, []string{"storm:L1 " + over}, gate.Fail, "1 expired entry"},
		"listed and not run":        {gate.Params{Attempts: tried(clean("cron"))}, []string{"storm:L1 " + good}, gate.Pass, "nothing new"},
		"inconclusive":              {gate.Params{Attempts: tried(unsure("storm"))}, nil, gate.Inconclusive, "1 run inconclusive"},
		"inconclusive and listed":   {gate.Params{Attempts: tried(unsure("storm"))}, []string{"storm:L1 " + good}, gate.Inconclusive, "1 run inconclusive"},
		"then clean":                {gate.Params{Attempts: tried(unsure("storm"), clean("storm"))}, nil, gate.Pass, "nothing new"},
		"clean, then inconclusive":  {gate.Params{Attempts: tried(clean("storm"), unsure("storm"))}, nil, gate.Inconclusive, "1 run inconclusive"},
		"then a leak":               {gate.Params{Attempts: tried(unsure("storm"), leaky("storm"))}, nil, gate.Fail, "1 new finding"},
		"a leak and a doubt":        {gate.Params{Attempts: append(tried(leaky("storm")), tried(unsure("cron"))...)}, nil, gate.Fail, "1 new finding, 1 run inconclusive"},
		"the host did not come up":  {gate.Params{Attempts: tried(down)}, nil, gate.HostFailed, "the host could not be tested in 1 run"},
		"doubtful":                  {gate.Params{Attempts: tried(doubtful)}, nil, gate.Fail, "1 new finding"},
		"doubtful and listed":       {gate.Params{Attempts: tried(doubtful)}, []string{"storm:L1 " + good}, gate.Inconclusive, "1 run inconclusive"},
		"doubtful, in the baseline": {gate.Params{Attempts: tried(doubtful), Base: base, HasBase: true}, nil, gate.Inconclusive, "1 run inconclusive"},
		"in the baseline":           {gate.Params{Attempts: tried(leaky("storm")), Base: base, HasBase: true}, nil, gate.Pass, "1 finding of the baseline"},
		"in it, and strict":         {gate.Params{Attempts: tried(leaky("storm")), Base: base, HasBase: true, Strict: true}, nil, gate.Fail, "1 unlisted finding"},
		"strict, and listed":        {gate.Params{Attempts: tried(leaky("storm")), Base: base, HasBase: true, Strict: true}, []string{"storm " + good}, gate.Pass, "1 listed finding"},
		"strict, and a warning":     {gate.Params{Attempts: tried(warned), Base: []verdict.Judged{warned}, HasBase: true, Strict: true}, nil, gate.Pass, "1 finding of the baseline"},
		"in no baseline":            {gate.Params{Attempts: tried(leaky("storm")), Base: []verdict.Judged{clean("storm")}, HasBase: true}, nil, gate.Fail, "1 new finding"},
		"baseline of another play":  {gate.Params{Attempts: tried(leaky("storm")), Base: []verdict.Judged{clean("cron")}, HasBase: true}, nil, gate.Fail, "1 new finding"},
		"nothing was run":           {gate.Params{}, nil, gate.Inconclusive, "nothing was run"},
		"nothing was to be run":     {gate.Params{Idle: true}, nil, gate.Pass, "nothing new"},
		"a shard is missing":        {gate.Params{Attempts: tried(clean("storm")), Missing: []string{"x"}}, nil, gate.Inconclusive, "1 thing not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.params.Now, c.params.Known = today, list(t, c.known...)
			r := gate.Decide(c.params)
			assert.Equal(t, c.want, r.Outcome)
			assert.Equal(t, c.reason, r.Reason)
		})
	}
}

func TestRetriesShowAsFlaky(t *testing.T) {
	t.Parallel()
	r := gate.Decide(gate.Params{Attempts: tried(unsure("storm"), unsure("storm"), clean("storm")), Now: today})
	require.Len(t, r.Flakes, 1)
	assert.Equal(t, "tried 3 times: inconclusive, then inconclusive, then clean", r.Flakes[0].Text)
	assert.Equal(t, 2, r.Retried)
	assert.Len(t, r.Runs, 1)

	r = gate.Decide(gate.Params{Attempts: gate.Fresh([]verdict.Judged{clean("storm"), leaky("storm")}), Now: today})
	require.Len(t, r.Flakes, 1)
	assert.Equal(t, "the repeats differ: a leak in 1 of 2 runs (50%, 95% interval 9% to 91%)", r.Flakes[0].Text)
	assert.Equal(t, gate.Fail, r.Outcome, "one of two is a leak all the same")
	assert.Empty(t, gate.Decide(gate.Params{Attempts: tried(clean("storm")), Now: today}).Flakes)
}

func TestShards(t *testing.T) {
	t.Parallel()
	env := func(value string) func(string) string { return func(string) string { return value } }
	for text, want := range map[string]gate.Shard{"": {}, "1/1": {1, 1}, "2/4": {2, 4}, "job/4": {4, 4}} {
		got, err := gate.ParseShard(text, env("3"))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"0/4", "5/4", "1", "a/b", "1/0", "-1/4", "job/3", "1/4000", "/"} {
		_, err := gate.ParseShard(text, env("3"))
		require.Error(t, err, text)
	}
}

func TestSplitIsStableAndComplete(t *testing.T) {
	t.Parallel()
	var plays []gate.Costed
	for i, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z") {
		plays = append(plays, gate.Costed{Name: name, Cost: time.Duration(1+i%7) * time.Second})
	}
	for n := 1; n <= 30; n++ {
		shards, mark := gate.Split(plays, n)
		seen := map[string]int{}
		for _, s := range shards {
			for _, name := range s {
				seen[name]++
			}
		}
		assert.Len(t, seen, len(plays), "each play")
		for name, times := range seen {
			assert.Equal(t, 1, times, "%s once", name)
		}
		// Neither the order nor a run that was a little slower moves anything.
		var other []gate.Costed
		for i := len(plays) - 1; i >= 0; i-- {
			other = append(other, gate.Costed{Name: plays[i].Name, Cost: plays[i].Cost * 103 / 100})
		}
		again, mark2 := gate.Split(other, n)
		assert.Equal(t, shards, again)
		assert.Equal(t, mark, mark2)
	}
	four, _ := gate.Split(plays, 4)
	for _, s := range four {
		assert.InDelta(t, 6.5, float64(len(s)), 2)
	}
	slow, _ := gate.Split([]gate.Costed{{"slow", time.Minute}, {"a", time.Second}, {"b", time.Second}}, 2)
	assert.Equal(t, [][]string{{"slow"}, {"a", "b"}}, slow)
}

func TestCosts(t *testing.T) {
	t.Parallel()
	assert.Equal(t, time.Second, gate.CostOf("storm", []verdict.Judged{clean("cron"), clean("storm")}))
	assert.Zero(t, gate.CostOf("hang", []verdict.Judged{clean("cron")}))
}

func part(name string, index, count int, mark string, runs ...verdict.Judged) gate.Part {
	return gate.Part{
		Name: name, Shard: gate.Shard{Index: index, Count: count}, Mark: mark, Host: "h",
		Plan: []gate.Item{{Scenario: "storm"}, {Scenario: "cron"}}, Repeat: 1, Runs: gate.Fresh(runs),
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	all, _, missing := gate.Merge([]gate.Part{part("two", 2, 2, "m", clean("storm")), part("one", 1, 2, "m", clean("cron"))})
	assert.Empty(t, missing)
	require.Len(t, all, 2)
	assert.Equal(t, "storm", compare.PlayOf(&all[0].Judged).Scenario, "in the order of the plan")
	for name, c := range map[string]struct {
		parts []gate.Part
		want  string
	}{
		"a shard":   {[]gate.Part{part("one", 1, 2, "m", clean("storm"), clean("cron"))}, "shard 2/2 of h is not there"},
		"a play":    {[]gate.Part{part("one", 1, 2, "m", clean("storm")), part("two", 2, 2, "m")}, "cron on h was run 0 of 1 times"},
		"same mark": {[]gate.Part{part("one", 1, 2, "m", clean("storm")), part("two", 2, 2, "n", clean("cron"))}, "were split differently"},
		"twice":     {[]gate.Part{part("one", 1, 2, "m", clean("storm")), part("two", 2, 2, "m", clean("cron")), part("three", 2, 2, "m", clean("cron"))}, "are both shard 2/2"},
	} {
		_, _, missing := gate.Merge(c.parts)
		assert.Contains(t, strings.Join(missing, "\n"), c.want, name)
	}
	// Two that are no shards: the runs of both count.
	all, _, missing = gate.Merge([]gate.Part{part("a", 0, 0, "", clean("storm"), clean("cron")), part("b", 0, 0, "", clean("storm"), leaky("cron"))})
	assert.Empty(t, missing)
	assert.Len(t, gate.Final(all), 4)
}
