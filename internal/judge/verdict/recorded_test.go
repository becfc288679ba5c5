package verdict

import (
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// TestRecordedRuns judges runs that were recorded: of hosts that the bench once judged wrongly (trick-*), and of an older version. What
// is said of each, in codes, is in testdata/recorded.txt. Whoever changes a rule reads there which runs are judged in another way.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	runs, err := recordedRuns()
	require.NoError(t, err)
	require.NotEmpty(t, runs)
	said := map[string]string{}
	for name, run := range runs {
		said[name] = inCodes(Judge(run))
	}
	const golden = "testdata/recorded.txt"
	if *update {
		text := ""
		for _, name := range slices.Sorted(maps.Keys(said)) {
			text += name + ": " + said[name]
		}
		require.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
	}
	text, err := os.ReadFile(golden)
	require.NoError(t, err)
	for _, block := range strings.Split(strings.ReplaceAll(string(text), "\n  ", "\x00"), "\n") {
		if name, want, is := strings.Cut(block, ": "); is {
			assert.Equal(t, strings.ReplaceAll(want, "\x00", "\n  ")+"\n", said[name], "%s; go test ./internal/judge/verdict -update", name)
			delete(said, name)
		}
	}
	assert.Empty(t, said, "runs of which %s does not tell", golden)
}

// inCodes is a verdict without the words that may change.
func inCodes(v Verdict) string {
	text := fmt.Sprintf("%s, %d launched, %d at once, %d left\n", v.Outcome, v.Spawned, v.PeakLive, v.Left)
	for _, f := range v.Findings {
		text += fmt.Sprintf("  %s %s %s of %s, %s, %d times at %q, was %v: %v at %v\n",
			f.Severity, f.Law, f.Kind, f.Label, f.Fingerprint, f.Count, f.Checkpoint, f.Aliases, f.Servers, f.At)
	}
	for _, d := range v.Doubts {
		text += fmt.Sprintf("  doubt %s\n", d.Code)
	}
	for _, l := range v.Laws {
		text += fmt.Sprintf("  %s %s, %d values\n", l.Law, l.Status, len(l.Values))
	}
	return text
}

// recordedRuns reads the runs once, whoever asks for them how often.
var recordedRuns = sync.OnceValues(func() (map[string]*record.Run, error) {
	files, err := filepath.Glob("testdata/recorded/*.jsonl.gz")
	if err != nil {
		return nil, err
	}
	runs, failures := make([]*record.Run, len(files)), make([]error, len(files))
	var all sync.WaitGroup
	for i, file := range files {
		all.Go(func() { runs[i], failures[i] = recorded(file) })
	}
	all.Wait()
	byName := map[string]*record.Run{}
	for i, file := range files {
		byName[strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")] = runs[i]
	}
	return byName, errors.Join(failures...)
})

func recorded(file string) (*record.Run, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return record.Decode(z)
}
