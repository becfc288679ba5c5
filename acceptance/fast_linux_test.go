package acceptance_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/test/trickhost"
)

// lateHosts end a server, or wait for it, later than they may, or only seem to. A fast run does not wait for that.
var lateHosts = []string{"late-5s", "reaps-late", "reaps-later", "cache"}

// unsettled are the kinds of which a fast run may speak where a host is late: it has seen the end, or it has not.
var unsettled = []string{"late", "late-reaped", "still-running", "still-zombie"}

// TestALateHostIsNotCalledLost by a fast run: it has not waited for what the host does in the end. The first tier plays the first of them.
func TestALateHostIsNotCalledLost(t *testing.T) {
	t.Parallel()
	whole := tier.Plays(tier.Tricks)
	for i, name := range lateHosts {
		if i > 0 && !whole {
			break
		}
		all := trickhost.All()
		at := slices.IndexFunc(all, func(k trickhost.Trick) bool { return k.Name == name })
		if !assert.GreaterOrEqual(t, at, 0, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, dir, program := all[at], t.TempDir(), trickProgram.path(t)
			defer takeTurn(t, besideAll, short)()
			assertUnsettled(t, playBench(t, dir, nil, "run", scenarioArg(k.Scenario), "--host", hostFile(t, program, k.Name, dir), "--fast"))
		})
	}
	t.Run("itself-late", func(t *testing.T) {
		t.Parallel()
		theBench(t)
		defer takeTurn(t, besideAll, short)()
		assertUnsettled(t, playBench(t, t.TempDir(), nil, "run", "storm", "--host", "itself-late", "--fast"))
	})
}

func assertUnsettled(t *testing.T, a trickAnswer) {
	t.Helper()
	for _, kind := range a.Kinds {
		assert.Contains(t, unsettled, kind, "%s\n%s", a.short(), a.Words)
	}
}
