package gate_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// What is no shard is told in the terms in which it was written.
func TestWhatIsNoShard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, index, want string }{
		{"1/1001", "", `"1/1001" is not a shard; write it like 1/4`},
		{"1/0", "", `"1/0" is not a shard; write it like 1/4`},
		{"1/b", "", `"1/b" is not a shard; write it like 1/4`},
		{"5/4", "", `"5/4" is not a shard: of 4, use 1/4 to 4/4`},
		{"a/4", "", `"a/4" is not a shard: of 4, use 1/4 to 4/4`},
		{"job/4", "x", `JOB_COMPLETION_INDEX is "x"; for job/4 it is 0 to 3`},
		{"job/4", "4", `JOB_COMPLETION_INDEX is "4"; for job/4 it is 0 to 3`},
		{"job/4", "", `JOB_COMPLETION_INDEX is ""; for job/4 it is 0 to 3`},
	} {
		_, err := gate.ParseShard(c.text, func(string) string { return c.index })
		require.EqualError(t, err, c.want)
	}
	most, err := gate.ParseShard("1000/1000", nil)
	require.NoError(t, err)
	assert.Equal(t, gate.Shard{Index: 1000, Count: 1000}, most)
	for s, valid := range map[gate.Shard]bool{{}: true, {1, 1}: true, {1, 1000}: true, {1, 1001}: false, {0, 1}: false, {2, 1}: false, {1, 0}: false} {
		assert.Equal(t, valid, s.Valid(), s)
	}
}

// A run that was a little slower changes no order, and shards that were split differently do not have the same mark.
func TestSplitRounds(t *testing.T) {
	t.Parallel()
	split := func(a, b time.Duration) ([][]string, string) {
		return gate.Split([]gate.Costed{{"a", a}, {"b", b}, {"c", time.Minute}}, 2)
	}
	shards, mark := split(1000*time.Millisecond, 990*time.Millisecond)
	again, same := split(990*time.Millisecond, 1000*time.Millisecond)
	assert.Equal(t, shards, again)
	assert.Equal(t, [][]string{{"c"}, {"a", "b"}}, shards)
	assert.Equal(t, mark, same)
	_, other := split(2*time.Minute, time.Second)
	assert.NotEqual(t, mark, other)
}

// One machine may have given its part a name that comes first, and hosts are merged each for itself.
func TestMergeByHost(t *testing.T) {
	t.Parallel()
	one, two := part("z", 1, 2, "m", clean("cron")), part("a", 2, 2, "m", clean("storm"))
	alone := part("b", 0, 0, "", clean("storm"), clean("cron"))
	alone.Host = "g"
	na := gate.NotApplicable{Scenario: "hang", Host: "h", Why: "why"}
	one.NotApplicable, two.NotApplicable = []gate.NotApplicable{na}, []gate.NotApplicable{na}
	parts := []gate.Part{two, alone, one}
	all, not, missing := gate.Merge(parts)
	assert.Empty(t, missing)
	assert.Len(t, all, 4)
	assert.Equal(t, []gate.NotApplicable{na}, not, "each once")
	assert.Equal(t, "a", parts[0].Name, "what was given stays as it is")
	assert.Equal(t, []string{"storm", "cron", "storm", "cron", "storm", "cron"}, gate.Planned(parts...))
	others := []gate.Part{part("c", 1, 2, "n", clean("cron")), part("d", 2, 2, "n", clean("storm"))}
	others[0].Host, others[1].Host = "i", "i"
	_, _, missing = gate.Merge(append(others, one, two))
	assert.Empty(t, missing, "the shards of each host are counted for themselves")

	one.Shard.Count, one.Runs = 3, nil
	_, _, missing = gate.Merge([]gate.Part{one, two})
	assert.Contains(t, missing, "z and a were split differently: give all shards the same scenarios, and the same runs to take costs from")
	twice := part("c", 2, 2, "m", clean("cron"), clean("storm"))
	all, _, _ = gate.Merge([]gate.Part{part("d", 1, 2, "m", clean("cron")), two, twice})
	assert.Len(t, all, 2, "the runs of a shard that is there twice count once")

	hang := part("e", 0, 0, "", clean("storm"), clean("cron"))
	hang.Plan = append(hang.Plan, gate.Item{Scenario: "hang"})
	_, _, missing = gate.Merge([]gate.Part{hang})
	assert.Equal(t, []string{"hang on h was run 0 of 1 times"}, missing)
	hang.NotApplicable = []gate.NotApplicable{na}
	_, _, missing = gate.Merge([]gate.Part{hang})
	assert.Empty(t, missing, "it can't be played")
	hang.NotApplicable[0].Scenario = "storm"
	_, _, missing = gate.Merge([]gate.Part{hang})
	assert.Len(t, missing, 1, "another one can't be")
}

// Of the tries of a repeat the last one counts, in whichever order they come.
func TestTheLastTryCounts(t *testing.T) {
	t.Parallel()
	final := gate.Final([]gate.Attempt{
		{Judged: leaky("storm"), Repeat: 1, Try: 3}, {Judged: unsure("storm"), Repeat: 1, Try: 1}, {Judged: clean("storm"), Repeat: 1, Try: 2},
	})
	require.Len(t, final, 1)
	assert.Equal(t, verdict.Leak, final[0].Verdict.Outcome)
	var repeats []int
	for _, a := range gate.Fresh([]verdict.Judged{clean("storm"), clean("cron"), clean("storm")}) {
		repeats = append(repeats, a.Repeat)
		assert.Equal(t, 1, a.Try)
	}
	assert.Equal(t, []int{1, 1, 2}, repeats)
	assert.Equal(t, compare.Play{}, compare.PlayOf(&verdict.Judged{}))
}

// TestAFindingOfAnEarlierTryCounts: a last try that did not show it again does not undo it. A warning, or one that the last try has as
// well, is no reason to take another.
func TestAFindingOfAnEarlierTryCounts(t *testing.T) {
	t.Parallel()
	warned := clean("storm")
	warned.Verdict.Findings = []verdict.Finding{{Law: "L1", Fingerprint: print1, Severity: record.SeverityWarning}}
	again := leaky("storm")
	again.Verdict.Left = 1
	worse := leaky("storm")
	worse.Verdict.Findings = append(worse.Verdict.Findings, verdict.Finding{Law: "L2", Fingerprint: "ba9876543210", Severity: record.SeverityError})
	for name, c := range map[string]struct {
		tries []verdict.Judged
		want  int
	}{
		"found again":        {[]verdict.Judged{leaky("storm"), again}, 1},
		"the last one":       {[]verdict.Judged{unsure("storm"), clean("storm")}, 1},
		"found before":       {[]verdict.Judged{unsure("storm"), leaky("storm"), clean("storm")}, 1},
		"a warning":          {[]verdict.Judged{warned, clean("storm")}, 1},
		"found in both":      {[]verdict.Judged{leaky("storm"), worse}, 1},
		"more found before":  {[]verdict.Judged{worse, leaky("storm")}, 0},
		"the same, and more": {[]verdict.Judged{warned, leaky("storm")}, 1},
	} {
		final := gate.Final(tried(c.tries...))
		require.Len(t, final, 1, name)
		assert.Equal(t, c.tries[c.want], final[0], name)
	}
	final := gate.Final([]gate.Attempt{{Judged: clean("storm"), Repeat: 1, Try: 2}, {Judged: unsure("storm"), Repeat: 1, Try: 1}})
	assert.Equal(t, verdict.Clean, final[0].Verdict.Outcome, "in whichever order they come")
}
