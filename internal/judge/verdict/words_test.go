package verdict

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// difference is the lines that are in one text alone.
func difference(before, after []string) (diff string) {
	for _, line := range before {
		if !slices.Contains(after, line) {
			diff += "  -" + line + "\n"
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			diff += "  +" + line + "\n"
		}
	}
	return diff
}

// TestRecordedWords holds what is said of each cause, of each doubt and of each law's result that the recorded runs show, in the words
// of the first run that shows it.
func TestRecordedWords(t *testing.T) {
	t.Parallel()
	runs, err := recordedRuns()
	require.NoError(t, err)
	var b strings.Builder
	met := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		v := Judge(runs[name])
		first := func(what string) bool {
			before := met[what]
			met[what] = true
			return !before
		}
		v.Findings = slices.DeleteFunc(v.Findings, func(f Finding) bool { return !first(f.Law + f.Kind + f.Fingerprint) })
		v.Doubts = slices.DeleteFunc(v.Doubts, func(d Doubt) bool { return !first(string(d.Code)) })
		v.Laws = slices.DeleteFunc(v.Laws, func(l LawResult) bool { return !first(l.Law + string(l.Status) + l.Reason) })
		if len(v.Findings)+len(v.Doubts)+len(v.Laws) > 0 {
			fmt.Fprintf(&b, "== %s: %s\n", name, account(v))
		}
	}
	holds(t, "testdata/recorded_words.txt", b.String())
}

// holds compares a text with a file of testdata.
func holds(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if string(want) != text {
		assert.Fail(t, file+" says otherwise; go test ./internal/judge/verdict -update", "%s", difference(strings.Split(string(want), "\n"), strings.Split(text, "\n")))
	}
}

// TestRowsAreTheValues: what a value says of a process is there in parts as well, in the recorded runs and their near misses.
func TestRowsAreTheValues(t *testing.T) {
	t.Parallel()
	runs, err := recordedRuns()
	require.NoError(t, err)
	rows, of := 0, map[string]bool{}
	for name, run := range runs {
		for _, f := range Judge(run).Findings {
			require.Len(t, f.Rows, len(f.Values), name)
			for i, row := range f.Rows {
				if row == nil {
					continue
				}
				rows, of[f.Law] = rows+1, true
				session := ""
				if row.Session != "" {
					session = " of session " + row.Session
				}
				assert.Equal(t, f.Values[i], fmt.Sprintf("%s (pid %d)%s: %s", row.Name, row.PID, session, strings.Join(row.Seen, ", ")), name)
			}
		}
	}
	assert.Greater(t, rows, 100)
	assert.Greater(t, len(of), 3, "%v", of)
}
