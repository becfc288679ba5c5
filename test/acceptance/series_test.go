package acceptance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// TestSideBySideSaysTheSame plays a part of the matrix one after the other, and side by side: what is found is the same,
// to the fingerprint. What is played has one step after the other: whom reap-all hits among parallel ones is a matter of chance.
func TestSideBySideSaysTheSame(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Matrix)
	for _, name := range []string{"exact", "naive", "reap-all"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, foundIn(t, name, 1), foundIn(t, name, 6))
		})
	}
}

// foundIn is what a series of some scenarios on a host shows with so many runs at the same time.
func foundIn(t *testing.T, name string, jobs int) map[string][]string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	series := play.Series{Host: play.Host{Spec: builtinHost(t, name)}, Seed: 1, Jobs: jobs, Retries: 2}
	for _, scenario := range []string{"storm", "reload", "crash", "shutdown", "stdout", "zombies"} {
		series.Scenarios = append(series.Scenarios, builtin(t, scenario))
	}
	out := t.TempDir()
	bench := play.Bench{Self: self, Out: filepath.Join(out, "runs")}
	all, _, err := series.Play(t.Context(), func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
		among := besideAll
		if c.Again != "" {
			among = alone
		}
		defer takeTurn(t, among, chain)()
		return bench.One(ctx, c)
	})
	require.NoError(t, err)
	found := map[string][]string{}
	for _, j := range gate.Final(all) {
		line := []string{string(j.Verdict.Outcome)}
		for _, f := range j.Verdict.Findings {
			if f.IsError() {
				line = append(line, fmt.Sprintf("%s %s %s", f.Law, f.Kind, f.Fingerprint))
			}
		}
		slices.Sort(line)
		found[j.Run.Header.Scenario.Name] = line
	}
	require.Len(t, found, len(series.Scenarios))
	return found
}

// TestEachScenarioHasALevel: one without would be played by nobody who does not name it.
func TestEachScenarioHasALevel(t *testing.T) {
	t.Parallel()
	for _, name := range scenarios.Names() {
		assert.Contains(t, record.Levels(), builtin(t, name).Level, name)
	}
}
