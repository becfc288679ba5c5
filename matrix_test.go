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
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/scenarios"
)

// matrix says which laws each reference host breaks in each scenario, as
// errors. "" is clean. A cell that changes in either direction is red: a host
// that was caught and no longer is, is a bench gone blind.
var matrix = map[string]map[string]string{
	"storm":     {"exact": "", "naive": "L1 L4", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1 L4"},
	"cron":      {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"reload":    {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"hang":      {"exact": "", "naive": "L1", "reap-all": "", "orphan-set": "", "thread-blind": "L1"},
	"stuck":     {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"crash":     {"exact": "", "naive": "L2", "reap-all": "L2", "orphan-set": "L2", "thread-blind": "L2"},
	"shutdown":  {"exact": "", "naive": "L2", "reap-all": "", "orphan-set": "", "thread-blind": "L2"},
	"deaf":      {"exact": "", "naive": "L1 L2", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1 L2"},
	"grow":      {"exact": "", "naive": "L1", "reap-all": "", "orphan-set": "", "thread-blind": "L1"},
	"restart":   {"exact": "", "naive": "L2", "reap-all": "L3", "orphan-set": "", "thread-blind": "L2"},
	"replace":   {"exact": "", "naive": "L2", "reap-all": "L2", "orphan-set": "L2", "thread-blind": "L2"},
	"recycled":  {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"pid-1":     {"exact": "", "naive": "L4", "reap-all": "L3 L4", "orphan-set": "L4", "thread-blind": "L4"},
	"subreaper": {"exact": "", "naive": "L2", "reap-all": "L2", "orphan-set": "L2", "thread-blind": "L2"},
	"wrapper":   {"exact": "", "naive": "L1 L2", "reap-all": "L1 L2 L3", "orphan-set": "L1 L2", "thread-blind": "L1 L2"},
	"helpers":   {"exact": "", "naive": "L1 L2", "reap-all": "L2 L3", "orphan-set": "L2", "thread-blind": "L1 L2"},

	"cancel":         {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"deadline":       {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"probe":          {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"per-request":    {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"subagents":      {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"race":           {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"reload-connect": {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"forget":         {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"nofile":         {"exact": "", "naive": "L1 L10", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1 L10"},

	"stderr":    {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"stdout":    {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"full-pipe": {"exact": "", "naive": "L1 L2", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1 L2"},
	"spin":      {"exact": "", "naive": "L1 L2", "reap-all": "L2 L3", "orphan-set": "L2", "thread-blind": "L1 L2"},
	"container": {"exact": "", "naive": "L1 L2", "reap-all": "L1 L2", "orphan-set": "L1 L2", "thread-blind": "L1 L2"},
	"lock":      {"exact": "", "naive": "L1 L10 L4", "reap-all": "L3", "orphan-set": "L10", "thread-blind": "L1 L10 L4"},
	"watchdog":  {"exact": "", "naive": "L1 L2 L4", "reap-all": "L2 L3", "orphan-set": "L2", "thread-blind": "L1 L2 L4"},
	"siblings":  {"exact": "", "naive": "L4", "reap-all": "L3", "orphan-set": "", "thread-blind": "L4"},
	"zombies":   {"exact": "", "naive": "L4", "reap-all": "L3", "orphan-set": "", "thread-blind": "L4"},

	"vanish": {"exact": "", "naive": "L1", "reap-all": "L3", "orphan-set": "", "thread-blind": "L1"},
	"checks": {"exact": "", "naive": "", "reap-all": "L3", "orphan-set": "", "thread-blind": ""},
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, scenarios.Names(), slices.Collect(maps.Keys(matrix)), "each scenario has its row")
	for scenario, row := range matrix {
		for name, want := range row {
			t.Run(scenario+"/"+name, func(t *testing.T) {
				t.Parallel()
				judged := decided(t, scenario, name)
				assert.Equal(t, want, brokenLaws(judged.Verdict), "laws broken by %s in %s\n%s", name, scenario, account(judged))
				assert.Empty(t, judged.Verdict.Doubts)
			})
		}
	}
}

// published says the same of the published mcp-go client, used the way its
// documentation says: the README's table. What it breaks it breaks where the
// host is killed, or dies of a SIGTERM that nobody handles, with servers that
// ignore the end of their stdin.
var published = map[string]string{
	"storm": "", "cron": "", "reload": "", "hang": "", "stuck": "", "crash": "L2", "shutdown": "L2", "deaf": "", "grow": "",
	"wrapper": "L1 L2", "helpers": "L2",

	"cancel": "", "deadline": "", "probe": "", "per-request": "L1", "subagents": "", "race": "", "reload-connect": "", "forget": "L1", "nofile": "",

	"stderr": "", "stdout": "", "full-pipe": "L8", "spin": "L2", "container": "L1 L2", "lock": "", "watchdog": "L2", "siblings": "", "zombies": "",

	"restart": "L2", "replace": "L2", "recycled": "", "pid-1": "L4", "subreaper": "L2",

	"vanish": "L1", "checks": "",
}

func TestPublishedClient(t *testing.T) {
	t.Parallel()
	assert.ElementsMatch(t, scenarios.Names(), slices.Collect(maps.Keys(published)), "each scenario has its cell")
	for scenario, want := range published {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			judged := decided(t, scenario, "mcp-go")
			assert.Equal(t, want, brokenLaws(judged.Verdict), "laws broken by mcp-go in %s\n%s", scenario, account(judged))
			assert.Empty(t, judged.Verdict.Doubts)
		})
	}
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
