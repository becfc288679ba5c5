package verdict

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// TestRecordedRuns judges runs that were recorded: of hosts that the bench once judged wrongly (trick-*), and of an older version. What
// is said of each, in codes, is in testdata/recorded.txt. Whoever changes a rule reads there which runs are judged in another way.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/recorded/*.jsonl.gz")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var said strings.Builder
	for _, file := range files {
		v := Judge(recorded(t, file))
		fmt.Fprintf(&said, "%s: %s, %d launched, %d at once, %d left\n", strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), v.Outcome, v.Spawned, v.PeakLive, v.Left)
		for _, f := range v.Findings {
			fmt.Fprintf(&said, "  %s %s %s of %s, %s, %d times at %q, was %v: %v at %v\n", f.Severity, f.Law, f.Kind, f.Label, f.Fingerprint, f.Count, f.Checkpoint, f.Aliases, f.Servers, f.At)
		}
		for _, d := range v.Doubts {
			fmt.Fprintf(&said, "  doubt %s\n", d.Code)
		}
		for _, l := range v.Laws {
			fmt.Fprintf(&said, "  %s %s, %d values\n", l.Law, l.Status, len(l.Values))
		}
	}
	const golden = "testdata/recorded.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(said.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), said.String(), "go test ./internal/judge/verdict -update")
}

func recorded(t *testing.T, file string) *record.Run {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	run, err := record.Decode(z)
	require.NoError(t, err)
	return run
}
