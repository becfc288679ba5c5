package structure_test

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// TestWhatAnEarlierVersionWrote reads the run files, the blobs and the list of known findings that a commit wrote, of the same name as
// their folder, and holds what is made of them against what that commit said: judged.txt was written with its judge. A line that changes
// is a finding that the lists of users no longer know: give its kind an alias, or say so in CHANGELOG.md.
func TestWhatAnEarlierVersionWrote(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/written/*")
	require.NoError(t, err)
	require.NotEmpty(t, folders)
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			runs := writtenRuns(t, &b, folder)
			runs = append(runs, writtenBlobs(t, &b, folder)...)
			list, err := known.Load(filepath.Join(folder, "known.yaml"), true)
			require.NoError(t, err)
			for _, e := range list.Check(runs, time.Date(2029, 1, 1, 0, 0, 0, 0, time.UTC)) {
				fmt.Fprintf(&b, "known %s on %q: %s in %d\n", e.Finding(), e.Host, e.State, e.In)
			}
			golden := filepath.Join(folder, "judged.txt")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), b.String())
		})
	}
}

// writtenRuns reads the run files of a folder, and says what each comes to. Its scenario can still be read, so that it can be played again.
func writtenRuns(t *testing.T, b *strings.Builder, folder string) (all []verdict.Judged) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "runs", "*.jsonl.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		z, err := gzip.NewReader(f)
		require.NoError(t, err)
		run, err := record.Decode(z)
		require.NoError(t, err, file)
		require.NoError(t, f.Close())
		j := verdict.NewJudged(run, file)
		fmt.Fprintf(b, "run %s: %s", strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), foundBy(&j))
		_, err = scenarios.Parse(run.Header.Scenario.File, []byte(run.Header.Scenario.Source))
		require.NoError(t, err, file)
		all = append(all, j)
	}
	return all
}

// writtenBlobs reads the blobs of a folder, and says what they hold.
func writtenBlobs(t *testing.T, b *strings.Builder, folder string) (all []verdict.Judged) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.zip"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		part, err := gate.ReadBlob(file)
		require.NoError(t, err)
		fmt.Fprintf(b, "blob %s: shard %d of %d on %s, %v\n", filepath.Base(file), part.Shard.Index, part.Shard.Count, part.Host, part.Plan)
		for _, run := range part.Runs {
			fmt.Fprintf(b, "  %s, repeat %d, try %d: %s", run.Run.Header.Scenario.Name, run.Repeat, run.Try, foundBy(&run.Judged))
			all = append(all, run.Judged)
		}
	}
	return all
}

// foundBy is a verdict without the words that may change.
func foundBy(j *verdict.Judged) string {
	var lines []string
	for _, f := range j.Verdict.Findings {
		lines = append(lines, fmt.Sprintf("    %s %s %s of %s, %s, %d times, was %v\n", f.Severity, f.Law, f.Kind, f.Label, f.Fingerprint, f.Count, f.Aliases))
	}
	for _, d := range j.Verdict.Doubts {
		lines = append(lines, fmt.Sprintf("    doubt %s\n", d.Code))
	}
	slices.Sort(lines)
	return string(j.Verdict.Outcome) + "\n" + strings.Join(lines, "")
}
