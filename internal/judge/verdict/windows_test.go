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
		"crash-naive":      "L2 deaf; L2 deaf",
		"helpers-job-late": "L1 helper; L1 helper; L1 helper; L1 helper; L2 helper; L2 helper",
		"reload-mutant-l9": "L9 killed-unasked; L9 killed-unasked",
		"reload-reap-all":  "L3 killed; L3 killed; L9 killed-unasked",
		"wrapper-naive":    "L1 shielded; L1 shielded; L1 superseded; L2 deaf; L2 deaf; L2 helper; L2 helper; L2 shielded; L2 shielded",
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
		})
	}
}
