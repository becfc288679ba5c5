package host_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/scenarios"
)

// Each server is tried once, by its script less what only some launches do.
func TestEachServerIsTried(t *testing.T) {
	t.Parallel()
	const run = "feedc0ffee42"
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Load("testdata/many.yaml")
	require.NoError(t, err)
	var mu sync.Mutex
	seen := map[string]record.Control{}
	require.NoError(t, host.TryControl(t.Context(), host.ControlParams{
		Self: self, Log: filepath.Join(t.TempDir(), "keeper.log"), Run: run, Servers: s.Servers,
		Done: func(c record.Control) {
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, seen, c.Label)
			seen[c.Label] = c
		},
	}))
	require.Len(t, seen, 7)
	for _, label := range []string{"tidy", "new"} {
		c := seen[label]
		assert.True(t, c.Answered && c.SawEOF && c.Exited, "%+v", c)
		assert.Empty(t, c.Faults)
	}
	for label, do := range map[string]record.Action{"below": "launcher", "apart": "container"} {
		c := seen[label]
		assert.True(t, c.Answered && c.SawEOF && c.Exited, "%+v", c)
		if assert.Len(t, c.Faults, 1) {
			assert.Equal(t, do, c.Faults[0].Do)
		}
	}
	assert.True(t, seen["slow"].Exited, "%+v", seen["slow"])
	assert.GreaterOrEqual(t, seen["slow"].After.D(), 150*time.Millisecond)
	assert.True(t, seen["deaf"].SawEOF && !seen["deaf"].Exited, "%+v", seen["deaf"])
	assert.Equal(t, record.DoIgnore, seen["deaf"].Faults[0].Do)
	assert.False(t, seen["mute"].Answered, "%+v", seen["mute"])
	reexectest.NothingRuns(t, run)
}

// Without the program that plays all parts nothing can be tried, which is an error.
func TestNothingToTryWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := host.TryControl(t.Context(), host.ControlParams{Self: filepath.Join(dir, "none"), Log: filepath.Join(dir, "keeper.log"), Run: "1"})
	assert.ErrorIs(t, err, os.ErrNotExist)
}
