package leakbench_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/scenarios"
)

// TestMatrix plays each cell of the catalogue's matrix.
func TestMatrix(t *testing.T) {
	testColumns(t, "exact", "naive", "reap-all", "orphan-set", "thread-blind")
}

// TestPublishedClient plays the column of the published mcp-go client, used the
// way its documentation says.
func TestPublishedClient(t *testing.T) { testColumns(t, "mcp-go") }

func testColumns(t *testing.T, hosts ...string) {
	t.Parallel()
	var rows []string
	for _, row := range catalogue.Matrix {
		rows = append(rows, row.Scenario)
		for _, name := range hosts {
			t.Run(row.Scenario+"/"+name, func(t *testing.T) {
				t.Parallel()
				want, known := catalogue.Breaks(row.Scenario, name)
				require.True(t, known)
				judged := decided(t, row.Scenario, name)
				assert.Equal(t, want, brokenLaws(judged.Verdict), "laws broken by %s in %s\n%s", name, row.Scenario, account(judged))
				assert.Empty(t, judged.Verdict.Doubts)
			})
		}
	}
	assert.ElementsMatch(t, scenarios.Names(), rows, "each scenario has its row")
}

// decided plays a cell, and again where nothing could be decided, as decide
// does for the hosts that are installed: a verdict is final.
func decided(t *testing.T, scenario, hostName string) verdict.Judged {
	t.Helper()
	var judged verdict.Judged
	for range 3 {
		judged = play(t, scenario, hostName)
		if judged.Verdict.Outcome != verdict.Inconclusive && len(judged.Verdict.Doubts) == 0 {
			break
		}
		t.Logf("%s on %s is in doubt:\n%s", scenario, hostName, account(judged))
	}
	return judged
}

// play runs a scenario for real and judges what was saved.
func play(t *testing.T, scenario, hostName string) verdict.Judged {
	t.Helper()
	s, err := scenarios.Builtin(scenario)
	require.NoError(t, err)
	return playThis(t, s, hostName)
}

func playThis(t *testing.T, s *scenarios.Scenario, hostName string) verdict.Judged {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	spec, err := host.Lookup(self, hostName)
	require.NoError(t, err)
	return playSpec(t, s, spec)
}

func playSpec(t *testing.T, s *scenarios.Scenario, spec host.Spec) verdict.Judged {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	needsPlace(t, s)
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, runner.Run(t.Context(), runner.Params{
		Self: self, Scenario: s, Host: spec, Dir: dir, Seed: 1, Command: []string{"leakbench", "run", s.Name, "--host", spec.Name},
	}), "%s", tail(filepath.Join(dir, runner.HostLog)))
	run, err := record.Read(dir)
	require.NoError(t, err)
	return verdict.Judged{Run: run, Verdict: verdict.Judge(run), Dir: dir}
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

func brokenLaws(v verdict.Verdict) string {
	laws := map[string]bool{}
	for _, f := range v.Findings {
		if f.Severity == record.SeverityError {
			laws[f.Law] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(laws)), " ")
}

// account is what a red cell prints.
func account(j verdict.Judged) string {
	var b strings.Builder
	for _, f := range j.Verdict.Findings {
		fmt.Fprintf(&b, "  %s %s %s x%d (%s): %s; expected %s, found %s %v\n", f.Law, f.Kind, f.Label, f.Count, f.Severity, f.Title, f.Expected, f.Found, f.Values)
	}
	for _, d := range j.Verdict.Doubts {
		fmt.Fprintf(&b, "  doubt %s: %s\n", d.Code, d.Text)
	}
	return b.String()
}
