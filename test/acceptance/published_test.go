package acceptance_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// TestPublishedHosts plays every cell of hosts/expected.yaml for real. A host
// that is not installed is skipped; leakbench hosts install all installs them.
func TestPublishedHosts(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	self, err := os.Executable()
	require.NoError(t, err)
	for name, row := range expectedCells(t) {
		spec, err := hostfile.Lookup(self, name)
		require.NoError(t, err, "hosts/expected.yaml")
		for scenario, want := range row {
			t.Run(name+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				require.Contains(t, scenarios.Names(), scenario)
				needHost(t, spec)
				judged := decide(t, scenario, spec, want)
				assert.Equal(t, want, cellText(judged), "%s on %s\n%s", scenario, name, account(judged))
				assert.Empty(t, judged.Verdict.Doubts)
			})
		}
	}
}

// decide plays a cell. Where a signal ends a host that has nothing that outlives
// it, there is no teardown to wait for; one that is expected to leave nothing has
// all the time that it says it needs.
func decide(t *testing.T, scenario string, spec subject.Spec, want string) verdict.Judged {
	t.Helper()
	var limits play.Limits
	if want != string(verdict.Clean) && slices.Contains([]string{"shutdown", "crash"}, scenario) {
		limits.Settle, limits.Confirm = 3*time.Second, time.Second
	}
	return playUntil(t, long, cellOf(builtin(t, scenario), spec), limits, wanted{want, func(j verdict.Judged) bool { return certain(j) && cellText(j) == want }})
}

// cellText is what a cell of hosts/expected.yaml says of such a verdict.
func cellText(j verdict.Judged) string {
	return strings.TrimSpace(string(j.Verdict.Outcome) + " " + brokenLaws(j.Verdict))
}

// expectedCells are host -> scenario -> "clean", or "leak" and the laws.
func expectedCells(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("hosts/expected.yaml")
	require.NoError(t, err)
	var cells map[string]map[string]string
	require.NoError(t, yaml.Unmarshal(text, &cells))
	return cells
}

// needHost skips a test whose host this machine does not have.
func needHost(t *testing.T, spec subject.Spec) {
	t.Helper()
	if err := spec.Check(); err != nil {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			require.NoError(t, err, "LEAKBENCH_REQUIRE=all")
		}
		t.Skip(err)
	}
}

// TestEveryDriverHasItsCells: a host that is added is expected to do something.
func TestEveryDriverHasItsCells(t *testing.T) {
	t.Parallel()
	cells := expectedCells(t)
	for _, name := range hostfile.Presets() {
		spec, err := hostfile.Preset(name, "")
		require.NoError(t, err)
		if spec.Kind == record.KindDriver {
			assert.GreaterOrEqual(t, len(cells[name]), 3, "hosts/expected.yaml lacks cells of %s", name)
		}
	}
}

// TestScenariosOfFindingsLoad: the scenarios that the pages of findings name.
func TestScenariosOfFindingsLoad(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("docs/evidence/findings/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := scenarios.Load(file)
		assert.NoError(t, err)
	}
}
