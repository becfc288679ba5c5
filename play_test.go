package leakbench_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/scenarios"
)

// besideOthers is held for reading by what is played beside other runs of this
// package, and for writing by what is played alone.
var besideOthers sync.RWMutex

// tries is how often a run is played that could not be decided: first beside
// others, then alone.
const tries = 3

// takeTurn waits until a try of a run may be played. It returns a function that ends its turn.
func takeTurn(try int) (done func()) {
	if try == 1 {
		besideOthers.RLock()
		return besideOthers.RUnlock
	}
	besideOthers.Lock()
	return besideOthers.Unlock
}

// playUntil plays a scenario for real and judges what was saved, and again
// alone where it says nothing: on a machine whose other tests leave no time for
// a host, a time limit may be over before the host has come to where the fault
// is. A verdict is final. The second judge must agree with it.
func playUntil(t *testing.T, s *scenarios.Scenario, spec host.Spec, limits play.Limits, says func(verdict.Verdict) bool) verdict.Judged {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	needsPlace(t, s)
	bench := play.Bench{Self: self, Limits: limits}
	cell := play.Cell{Scenario: s, Host: play.Host{Spec: spec}, Seed: 1}
	for try := 1; ; try++ {
		cell.Dir = filepath.Join(t.TempDir(), "run")
		done := takeTurn(try)
		j, err := watched(t, bench.One)(t.Context(), cell)
		done()
		require.NoError(t, err, "%s", tail(filepath.Join(cell.Dir, runner.HostLog)))
		if try == tries || says(j.Verdict) {
			return *j
		}
		t.Logf("%s on %s is in doubt:\n%s", s.Name, spec.Name, account(*j))
	}
}

// playOnce plays a scenario whatever it says.
func playOnce(t *testing.T, s *scenarios.Scenario, spec host.Spec) verdict.Judged {
	t.Helper()
	return playUntil(t, s, spec, play.Limits{}, func(verdict.Verdict) bool { return true })
}

func builtin(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Builtin(name)
	require.NoError(t, err)
	return s
}

func builtinHost(t *testing.T, name string) host.Spec {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	spec, err := host.Lookup(self, name)
	require.NoError(t, err)
	return spec
}

// needsPlace skips where the host can't live where the scenario wants it.
func needsPlace(t *testing.T, s *scenarios.Scenario) {
	t.Helper()
	if err := keeper.TryPlace(s.Place); err != nil {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			t.Fatalf("the host can't live in %s here: %v", s.Place, err)
		}
		t.Skipf("the host can't live in %s here: %v", s.Place, err)
	}
}

func tail(path string) string {
	text, _ := os.ReadFile(path)
	return string(text[max(0, len(text)-2000):])
}
