package report

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	htmlpage "github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/terminal"
)

// Runs that took place, each made by leakbench run SCENARIO --host HOST and
// committed as it was; torn.jsonl is the first part of another.
var realRuns = map[string]verdict.Outcome{
	"storm-exact":    verdict.Clean,
	"storm-naive":    verdict.Leak,
	"cron-reap-all":  verdict.Leak,
	"crash-naive":    verdict.Leak,
	"server-sigterm": verdict.Leak,
	"torn":           verdict.Inconclusive,
}

// TestRealRuns judges and renders the committed runs again: whatever changes
// in a verdict or on a page shows as a difference in a golden file.
func TestRealRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/runs/*.jsonl")
	require.NoError(t, err)
	assert.Len(t, files, len(realRuns), "each committed run has its outcome here")
	for name, outcome := range realRuns {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, err := record.Read("../testdata/runs/" + name + ".jsonl")
			require.NoError(t, err)
			judged := verdict.NewJudged(run, "testdata/runs/"+name)
			require.Equal(t, outcome, judged.Verdict.Outcome)
			var text, data, page bytes.Buffer
			terminal.Text(&text, []verdict.Judged{judged}, terminal.Options{})
			golden(t, "real-"+name+".txt", text.String())
			require.NoError(t, formats.JSON(&data, []verdict.Judged{judged}, formats.Exit{}, formats.More{}))
			golden(t, "real-"+name+".json", data.String())
			require.NoError(t, htmlpage.HTML(&page, []verdict.Judged{judged}, baseline.Baseline{}))
			checkMarkup(t, page.String())
			assert.Less(t, page.Len(), 300<<10, "the page of a storm stays under 300 KB")
			golden(t, "real-"+name+".html", content(page.String()))
		})
	}
}
