package verdict_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// onlyUnix is what Windows does not have, and what nobody there can do anything with.
var onlyUnix = regexp.MustCompile(`SIG[A-Z]{3,}|killpg|setsid|process group|signal|cgroup|PR_SET|\bfd \d`)

// TestRunsOfWindows judges runs that were played under Wine: what is found, that it is told in words of Windows, and what the evidence
// shows.
func TestRunsOfWindows(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"check-cut-go-command":    "L1 not-escalated",
		"crash-naive":             "L2 deaf; L2 deaf",
		"shutdown-go-agent-stdin": "L2 deaf",
		"storm-go-shared-watched": "",
		"helpers-job-late":        "L1 helper; L1 helper; L1 helper; L1 helper; L2 helper; L2 helper",
		"reload-mutant-l9":        "L9 killed-unasked; L9 killed-unasked",
		"reload-reap-all":         "L3 killed; L3 killed; L9 killed-unasked",
		"wrapper-naive":           "L1 shielded; L1 shielded; L1 superseded; L2 deaf; L2 deaf; L2 helper; L2 helper; L2 shielded; L2 shielded",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, err := record.Read(filepath.Join("testdata", "windows", name+".jsonl"))
			require.NoError(t, err)
			v := verdict.Judge(run)
			var found []string
			for _, f := range v.Findings {
				found = append(found, f.Law+" "+f.Kind)
				said := strings.Join(append([]string{f.Title, f.Expected, f.Found, f.Why, f.Fix}, f.Values...), "\n")
				assert.Empty(t, onlyUnix.FindString(said), "%s %s: %s", f.Law, f.Kind, said)
				for _, e := range f.Evidence {
					assert.NotEmpty(t, e.Job)
					require.Len(t, e.Descriptors, 3, "%v", e.Unseen)
					assert.True(t, e.Descriptors[0].Known || slices.Contains([]string{"NUL", "closed"}, e.Descriptors[0].Target), "%+v", e.Descriptors[0])
				}
			}
			assert.Equal(t, want, strings.Join(found, "; "))
			reaped := v.Laws[slices.IndexFunc(v.Laws, func(r verdict.LawResult) bool { return r.Law == "L4" })]
			assert.Equal(t, verdict.LawNotJudged, reaped.Status, "nothing can break it there")
			assert.Equal(t, "Windows has no zombies", reaped.Reason)
			assert.False(t, slices.ContainsFunc(v.Doubts, func(d verdict.Doubt) bool { return strings.Contains(d.Text, "zombies") }), "%+v", v.Doubts)
		})
	}
}

// TestHowAHostWasAskedOnWindows: the report says by what, and that nothing is known where it could not be asked.
func TestHowAHostWasAskedOnWindows(t *testing.T) {
	t.Parallel()
	judge := func(name string) verdict.Verdict {
		run, err := record.Read(filepath.Join("testdata", "windows", name+".jsonl"))
		require.NoError(t, err)
		return verdict.Judge(run)
	}
	assert.Contains(t, judge("shutdown-go-agent-stdin").Findings[0].Why, "The host got stdin EOF and CTRL_C at ")
	v := judge("storm-go-shared-watched")
	assert.Equal(t, verdict.Inconclusive, v.Outcome)
	require.Len(t, v.Doubts, 1)
	assert.Equal(t, record.DoubtNotAskable, v.Doubts[0].Code)
	assert.Equal(t, "the host could not be asked to end: it has no console, so CTRL_C can't reach it", v.Doubts[0].Text)
}
