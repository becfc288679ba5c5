package explore_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
)

// TestFindsOnWindows: the one finding of a scenario is made small, and the small scenario shows it again each time.
func TestFindsOnWindows(t *testing.T) {
	t.Parallel()
	r := run(t, explore.Params{Seed: 20, Runs: 1, Jobs: 2, Shrink: 1, Most: 4}, "naive")
	at := slices.IndexFunc(r.Findings, func(f *explore.Found) bool { return f.Kind == "superseded" })
	require.GreaterOrEqual(t, at, 0, "%+v", r.Findings)
	found := r.Findings[at]
	assert.Less(t, found.To.Steps+found.To.Faults, found.From.Steps+found.From.Faults)
	assert.Equal(t, found.Again, found.Stable)
}

// TestFewAtOnce: a run does not know here how long it waited for a processor.
func TestFewAtOnce(t *testing.T) {
	t.Parallel()
	assert.LessOrEqual(t, play.Jobs(), max(1, runtime.GOMAXPROCS(0)/2))
}
