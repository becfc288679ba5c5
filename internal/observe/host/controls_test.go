package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
)

// many has a server for each way to end, or not to, and a look at the end.
func many(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/many.yaml")
	require.NoError(t, err)
	return string(text) + "  - checkpoint: connected\n"
}

// Each label is tried once without the host, and the run's own numbers know nothing of it.
func TestControls(t *testing.T) {
	t.Parallel()
	v, dir := play(t, many(t), "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
	assert.Equal(t, 6, v.Spawned)
	run, err := record.Read(dir)
	require.NoError(t, err)
	assert.True(t, run.Header.Limits.Controls)
	seen := map[string]record.Control{}
	for _, e := range run.Events {
		if e.Kind == record.Born {
			assert.Equal(t, 1, e.Birth.Launch, e.Server)
		}
		if e.Kind == record.Controlled {
			assert.NotContains(t, seen, e.Control.Label)
			seen[e.Control.Label] = *e.Control
		}
	}
	require.Len(t, seen, 7)
	reexectest.NothingRuns(t, run.Header.ID)
}
