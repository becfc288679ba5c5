package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
)

// TestRuns: old runs are listed and removed, and nothing else is.
func TestRuns(t *testing.T) {
	t.Parallel()
	out, elsewhere := t.TempDir(), t.TempDir()
	write := func(dir, name string, size int, age time.Duration) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, make([]byte, size), 0o600))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(path, then, then))
	}
	write(out, "20260101-storm-exact/run.jsonl", 2<<20, 20*day)
	write(out, "20260101-storm-exact/host.log", 1<<20, 20*day)
	write(out, "20260110-cron-exact/run.jsonl", 1<<20, 13*day)
	write(out, "explore-1/x/run.jsonl", 5, 30*day)
	write(out, "notes/old.txt", 5, 30*day)
	write(elsewhere, "run.jsonl", 5, 30*day)
	linked := os.Symlink(elsewhere, filepath.Join(out, "20250101-link")) == nil &&
		os.Symlink("20260101-storm-exact", filepath.Join(out, "latest")) == nil
	leakbench := func(args ...string) (int, string) {
		var printed, said bytes.Buffer
		code := execute(append(args, "-o", out), &printed, &said)
		return code, printed.String() + said.String()
	}

	code, said := leakbench("runs")
	assert.Equal(t, exitClean, code)
	assert.Regexp(t, `(?s)^20260101-storm-exact  .*3 MiB\n20260110-cron-exact .*1 MiB\n2 runs .*4 MiB\n$`, said)
	code, said = leakbench("runs", "--format", "json")
	assert.Equal(t, exitClean, code)
	var all []play.SavedRun
	require.NoError(t, json.Unmarshal([]byte(said), &all))
	assert.Len(t, all, 2)

	for _, wrong := range [][]string{{"runs", "prune"}, {"runs", "prune", "--older", "soon"}, {"runs", "prune", "--older", "-1d"}, {"runs", "clean"}} {
		code, said = leakbench(wrong...)
		assert.Equal(t, exitUsage, code, said)
	}
	code, said = leakbench("runs", "prune", "--older", "14d")
	assert.Equal(t, exitClean, code)
	assert.Equal(t, "removed 1 run, 3 MiB\n", said)
	assert.NoDirExists(t, filepath.Join(out, "20260101-storm-exact"))
	for _, kept := range []string{"20260110-cron-exact/run.jsonl", "explore-1/x/run.jsonl", "notes/old.txt"} {
		assert.FileExists(t, filepath.Join(out, kept))
	}
	assert.FileExists(t, filepath.Join(elsewhere, "run.jsonl"))
	if linked {
		to, err := os.Readlink(filepath.Join(out, "latest"))
		require.NoError(t, err)
		assert.Equal(t, "20260110-cron-exact", to)
	}
	_, said = leakbench("runs", "prune", "--older", "1m")
	assert.Equal(t, "removed 1 run, 1 MiB\n", said)
	out = filepath.Join(out, "nowhere")
	code, said = leakbench("runs")
	assert.Equal(t, exitUsage, code, said)
	assert.Contains(t, said, "hint: ")
}
