package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/baseline/baselinetest"
	htmlpage "github.com/leakbench/leakbench/report/page"
)

// poisonedGate is what every string of may be written by somebody else.
func poisonedGate(text string, runs []verdict.Judged) baseline.Baseline {
	play := compare.PlayOf(&runs[0])
	r := gate.Decide(gate.Params{
		Attempts: gate.Fresh(runs), Base: runs[:1], HasBase: true, Missing: []string{text}, Now: baselinetest.Today,
		Known: known.List{Entries: []known.Entry{
			{Scenario: play.Scenario, Host: text, Reason: text},
			{Scenario: play.Scenario, Law: text, Fingerprint: text, Reason: text, Expires: baselinetest.Today.AddDate(1, 0, 0)},
			{Scenario: play.Scenario, Reason: text, Expires: baselinetest.Today.AddDate(1, 0, 0)},
		}},
	})
	return baseline.Baseline{Result: &r, Base: runs[:1], List: text, Answer: true}
}

// With --strict a finding of the base fails the gate too: the page says so, leads with it and counts it.
func TestAnUnlistedFindingIsShown(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{realRun(t, "storm-naive")}
	r := gate.Decide(gate.Params{
		Attempts: gate.Fresh(runs), Base: runs, HasBase: true, Strict: true, Now: baselinetest.Today,
		Known: known.List{Entries: []known.Entry{{Scenario: "storm", Law: "L1", Reason: "r", Expires: baselinetest.Today.AddDate(0, 0, 1)}}},
	})
	a := baseline.Baseline{Result: &r, Base: runs, List: "known.yaml", Answer: true}
	h, play := baseline.NewLookup(a), compare.PlayOf(&runs[0])
	n := len(r.Of(gate.Unlisted))
	require.Positive(t, n)
	assert.Equal(t, "0 new, "+strconv.Itoa(n)+" unlisted, "+strconv.Itoa(4-n)+" known, 0 fixed", baselinetest.Counts(h, nil))
	first := h.NewFirst(play, runs[0].Verdict.Findings)[0]
	assert.Equal(t, gate.Unlisted, h.Status(play, &first).Decision)
	var page strings.Builder
	require.NoError(t, htmlpage.HTML(&page, runs, a))
	assert.Contains(t, page.String(), "unlisted: the base has it too, in 1 of 1 runs, but a strict gate wants it listed")
}

func TestAPageSaysWhereAFindingStands(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{realRun(t, "storm-naive"), realRun(t, "cron-reap-all")}
	a := baselinetest.Listed(runs, "storm:L4", "cron:L9")
	a.Answer, a.Result.Missing = true, []string{"shard 2 of 4"}
	var page strings.Builder
	require.NoError(t, htmlpage.HTML(&page, runs, a))
	for _, want := range []string{
		"gate: fail", "new: not in known.yaml", "known: listed in known.yaml until 2030-06-16: it is in the backlog",
		"known.yaml:5: listed, but no longer found: remove it from the list", "Not run: shard 2 of 4",
	} {
		assert.Contains(t, page.String(), want)
	}
	page.Reset()
	require.NoError(t, htmlpage.HTML(&page, runs, baseline.Baseline{}))
	assert.NotContains(t, page.String(), `class="standing"`, "held against nothing")
}

// TestAnEntryThatHasExpired is not called missing: it is in the list.
func TestAnEntryThatHasExpired(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{realRun(t, "storm-naive")}
	a := baselinetest.Against(runs, nil, "known.yaml", known.Entry{Scenario: "storm", Reason: "later", Expires: baselinetest.Today.AddDate(0, 0, -1)})
	var page strings.Builder
	require.NoError(t, htmlpage.HTML(&page, runs, a))
	assert.Contains(t, page.String(), "expired: its entry in known.yaml expired on 2030-06-14")
	assert.NotContains(t, page.String(), "not in known.yaml")
}

// TestARunWithTwoFindingsOfAKindCountsOnce where the page says how many runs a fix helps.
func TestARunWithTwoFindingsOfAKindCountsOnce(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{realRun(t, "storm-naive"), realRun(t, "cron-reap-all")}
	n := 0
	for _, f := range runs[0].Verdict.Findings {
		if f.Kind == "superseded" {
			n++
		}
	}
	require.Equal(t, 2, n)
	var page strings.Builder
	require.NoError(t, htmlpage.HTML(&page, runs, baseline.Baseline{}))
	assert.Contains(t, page.String(), "<summary>2 findings in 1 run</summary>")
}

func TestMeasuresOfRepeatsAreShown(t *testing.T) {
	t.Parallel()
	var base, head []verdict.Judged
	for i := range 6 {
		base = append(base, slowRun(int64(10+i)))
		head = append(head, slowRun(int64(100+i)))
	}
	v := baseline.NewCompare(baselinetest.Against(head, base, "").Result.Compared, base, head)
	require.Len(t, v.Rows, 1)
	last := v.Rows[0].Numbers[len(v.Rows[0].Numbers)-1]
	assert.Equal(t, "open", last.Name)
	assert.Equal(t, "bad", last.Class)
	assert.Contains(t, last.Note, "worse")
	assert.Empty(t, v.Tests)
}

// slowRun is a clean run with a step that takes so many milliseconds.
func slowRun(ms int64) verdict.Judged {
	step := record.Step{N: 1, Op: "open", OK: true}
	run := &record.Run{Header: record.Header{Scenario: record.Scenario{Name: "storm"}, Host: record.Host{Name: "h"}}, Events: []record.Event{
		{Seq: 1, T: 1, Kind: record.StepBegun, Step: &step},
		{Seq: 2, T: ms * 1e6, Kind: record.StepEnded, Step: &step},
		{Seq: 3, T: ms*1e6 + 1, Kind: record.Ended, End: &record.End{Reason: "done"}},
	}}
	return verdict.Judged{Run: run, History: history.Of(run), Verdict: verdict.Verdict{Outcome: verdict.Clean}}
}
