package baseline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/baseline/baselinetest"
)

// realRun is a committed run, judged.
func realRun(t *testing.T, name string) verdict.Judged {
	t.Helper()
	run, err := record.Read("../../testdata/runs/" + name + ".jsonl")
	require.NoError(t, err)
	return verdict.NewJudged(run, "testdata/runs/"+name)
}

func TestFindingsStand(t *testing.T) {
	t.Parallel()
	naive, exact := realRun(t, "storm-naive"), realRun(t, "storm-exact")
	play := compare.PlayOf(&naive)
	expired := known.Entry{Scenario: "storm", Law: "L4", Expires: baselinetest.Today.AddDate(0, 0, -1)}
	for name, c := range map[string]struct {
		a    baseline.Baseline
		want string
	}{
		"all are new":            {baselinetest.Against([]verdict.Judged{naive}, []verdict.Judged{exact}, ""), "4 new, 0 known, 0 fixed"},
		"all are of the base":    {baselinetest.Against([]verdict.Judged{naive}, []verdict.Judged{naive}, ""), "0 new, 4 known, 0 fixed"},
		"all are fixed":          {baselinetest.Against([]verdict.Judged{exact}, []verdict.Judged{naive}, ""), "0 new, 0 known, 4 fixed"},
		"some are listed":        {baselinetest.Listed([]verdict.Judged{naive}, "storm:L4"), "3 new, 1 known, 0 fixed"},
		"an entry is stale":      {baselinetest.Listed([]verdict.Judged{naive}, "storm:L4", "storm:L8"), "3 new, 1 known, 0 fixed, 1 stale"},
		"an entry has expired":   {baselinetest.Against([]verdict.Judged{naive}, nil, "known.yaml", expired), "3 new, 1 expired, 0 known, 0 fixed"},
		"an entry of no concern": {baselinetest.Listed([]verdict.Judged{naive}, "storm:L4", "cron:L1"), "3 new, 1 known, 0 fixed"},
	} {
		h := baseline.NewLookup(c.a)
		assert.Equal(t, c.want, baselinetest.Counts(h, nil), name)
		if name == "all are fixed" {
			play = compare.PlayOf(&exact)
		} else {
			play = compare.PlayOf(&naive)
		}
		assert.Equal(t, c.want, baselinetest.Counts(h, &play), name)
	}
	assert.Nil(t, (*baseline.Lookup)(nil).Status(play, &naive.Verdict.Findings[0]), "held against nothing")
}

// Where the base has a host of another name, or more than one, each play meets
// its own.
func TestPlaysMeetTheirOwn(t *testing.T) {
	t.Parallel()
	exact, reapAll, naive := realRun(t, "storm-exact"), realRun(t, "cron-reap-all"), realRun(t, "storm-naive")
	one := baseline.NewCompare(baselinetest.Against([]verdict.Judged{exact}, []verdict.Judged{naive}, "").Result.Compared, []verdict.Judged{naive}, []verdict.Judged{exact})
	require.Len(t, one.Rows, 1)
	assert.Equal(t, "naive", one.Rows[0].Base.Host)
	assert.Equal(t, "exact", one.Rows[0].Head.Host)
	assert.Len(t, one.Rows[0].Findings, 4)

	head, base := []verdict.Judged{exact, reapAll}, []verdict.Judged{naive}
	two := baseline.NewCompare(baselinetest.Against(head, base, "").Result.Compared, base, head)
	assert.Empty(t, two.Rows)
	assert.Contains(t, strings.Join(two.Notes, "\n"), "storm on exact: no run of it in base")
}
