package acceptance_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// exploreEnv is how many generated scenarios are played on exact, and on each host that breaks something; "": a few, on exact alone.
const exploreEnv = "LEAKBENCH_EXPLORE"

// explored is an exploration of a host. The second judge watches each play.
func explored(t *testing.T, hostName string, p explore.Params) *explore.Result {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	bench := &play.Bench{Self: self, Out: t.TempDir()}
	p.Bench, p.Host = bench, play.Host{Spec: builtinHost(t, hostName)}
	p.Play = func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
		among := besideAll
		if c.Alone {
			among = alone
		}
		done := takeTurn(t, among, chain)
		defer done()
		// The second judge is not asked: it counts the process that guards this host as left where the steps give it no look at both.
		return bench.One(ctx, c)
	}
	r, err := explore.Run(t.Context(), p)
	require.NoError(t, err)
	t.Logf("%s: %d scenarios in %v, %d clean, %d inconclusive, %d of %d covered", hostName, r.Runs, r.Took, r.Clean, r.Inconclusive, r.Covered, r.Cells)
	return r
}

func exploreCount(t *testing.T) (n int, nightly bool) {
	t.Helper()
	if os.Getenv(exploreEnv) == "" {
		return 30, false
	}
	n, err := strconv.Atoi(os.Getenv(exploreEnv))
	require.NoError(t, err)
	return n, true
}

// TestExploreExact: a host that breaks no law breaks none in scenarios that nobody wrote. One that could not be decided says why.
func TestExploreExact(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Explore)
	n, _ := exploreCount(t)
	r := explored(t, catalogue.Healthy, explore.Params{Seed: 2, Runs: n})
	for _, f := range r.Findings {
		t.Errorf("%s %s: %s (scenario %d, %s)", f.Law, f.Kind, f.Title, f.First, read(t, f.File))
	}
	for _, d := range r.Doubts {
		t.Logf("%s in %d scenarios: %s\n%s", d.Code, d.Count, d.Text, read(t, d.File))
	}
	assert.Zero(t, r.Unplayed, r.Failure)
	assert.LessOrEqual(t, r.Inconclusive, max(1, n/100))
	tier.Played(t, catalogue.Healthy, fmt.Sprintf("%d generated scenarios", n), "clean")
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// beyondTheGrammar are hosts whose flaw generated scenarios do not show, with the reason.
var beyondTheGrammar = map[string]string{
	"mutant-l11": "L11 is judged only in a scenario that lists it, and one of those that shows nothing is inconclusive",
}

// ownLaw is what the flaw of each reference host breaks: it forgets what was superseded, ends what others use, sweeps too late to be
// there, or sees nothing to sweep.
var ownLaw = map[string]string{"naive": "L1", "reap-all": "L3", "orphan-set": "L2", "thread-blind": "L1"}

// TestExploreFinds: each host that breaks a law is found by that law.
func TestExploreFinds(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Explore)
	n, nightly := exploreCount(t)
	if !nightly {
		t.Skip(exploreEnv + " is not set: it takes half an hour")
	}
	for _, h := range append(catalogue.Hosts[1:5:5], catalogue.Mutants...) {
		laws := map[string]bool{}
		for _, f := range h.Shows {
			laws[f.Law] = true
		}
		if len(h.Shows) == 0 {
			require.NotEmpty(t, ownLaw[h.Name], h.Name)
			laws[ownLaw[h.Name]] = true
		}
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			if why := beyondTheGrammar[h.Name]; why != "" {
				t.Skip(why)
			}
			r := explored(t, h.Name, explore.Params{Seed: 2, Runs: min(n, 200), Enough: func(f *explore.Found) bool { return laws[f.Law] }})
			for _, f := range r.Findings {
				if laws[f.Law] {
					t.Logf("%s: %s %s in scenario %d, after %v", h.Name, f.Law, f.Kind, f.First, f.After)
					return
				}
			}
			t.Errorf("%s was not found in %d scenarios", h.Name, r.Runs)
		})
	}
}

// TestOtherOpenFailsLate: of two opens of a session, side by side, one succeeds and the other one fails after that. The session is open.
func TestOtherOpenFailsLate(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Explore)
	text := "name: late\ntitle: late\nservers: {a: {faults: [{on: initialize, do: delay, for: 400ms}, {on: eof, do: linger-socket}]}}\n" +
		"limits: {settle: 1.5s, confirm: 1s}\nsteps:\n" +
		"  - parallel: [[{open: a-1, server: a, timeout: 300ms, expect: any}], [{await: a-1, for: connect}, {open: a-1, server: a}]]\n" +
		"  - {call: a-1}\n  - {checkpoint: one}\n"
	s, err := scenarios.Parse(filepath.Join(t.TempDir(), "late.yaml"), []byte(text))
	require.NoError(t, err)
	j := playUntil(t, short, cellOf(s, builtinHost(t, catalogue.Healthy)), play.Limits{}, breaks(""))
	assert.Empty(t, brokenLaws(j.Verdict), account(j))
	assert.Empty(t, j.Verdict.Doubts)
}

// TestGuard: what the kernel does not end with a host that is killed, its guard ends.
func TestGuard(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Explore)
	for name, fault := range map[string]string{"container": "container", "launcher": "launcher, as: own-session", "helper": "helper, as: daemon"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "name: killed-" + name + "\ntitle: killed\nservers: {a: {faults: [{on: start, do: " + fault + "}]}}\n" +
				"limits: {settle: 1.5s, confirm: 1s}\nsteps: [{open: a-1, server: a}, {kill: host}]\n"
			s, err := scenarios.Parse(filepath.Join(t.TempDir(), "killed.yaml"), []byte(text))
			require.NoError(t, err)
			j := playUntil(t, short, cellOf(s, builtinHost(t, catalogue.Healthy)), play.Limits{}, breaks(""))
			assert.Empty(t, brokenLaws(j.Verdict), account(j))
		})
	}
}

// TestGarbageExcuses: a client that closes the connection on which something else comes than messages has ended no healthy server.
func TestGarbageExcuses(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Explore)
	text := "name: garbage\ntitle: garbage\nservers: {a: {}}\nlimits: {settle: 1.5s, confirm: 1s}\n" +
		"steps: [{open: a-1, server: a}, {break: a-1, with: garbage}, {call: a-1, timeout: 500ms, expect: any}, {close: a-1, expect: any}]\n"
	s, err := scenarios.Parse(filepath.Join(t.TempDir(), "garbage.yaml"), []byte(text))
	require.NoError(t, err)
	j := playUntil(t, short, cellOf(s, builtinHost(t, "go-sdk")), play.Limits{}, breaks(""))
	assert.Empty(t, brokenLaws(j.Verdict), account(j))
}

// TestLateReader: a server that could not read when its host closed its stdin, and later asked by a signal, was not signalled at once.
func TestLateReader(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Explore)
	text := "name: late-reader\ntitle: late reader\nservers: {a: {faults: [{on: term, do: ignore}, {on: start, do: delay, for: 550ms}]}}\n" +
		"limits: {settle: 1.5s, confirm: 1s}\nsteps: [{open: a-1, server: a, timeout: 100ms, expect: any}, {open: a-1, server: a, timeout: 100ms, expect: any}]\n"
	s, err := scenarios.Parse(filepath.Join(t.TempDir(), "late-reader.yaml"), []byte(text))
	require.NoError(t, err)
	j := playUntil(t, short, cellOf(s, builtinHost(t, catalogue.Healthy)), play.Limits{}, breaks(""))
	assert.Empty(t, j.Verdict.Findings, account(j))
}

// TestOneOfTwoOpens: of two opens of one entry, side by side, one runs out of time. The driver leaves the entry to the other one.
func TestOneOfTwoOpens(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	spec, err := hostfile.Lookup("", "hermes")
	require.NoError(t, err)
	needHost(t, spec)
	text := "name: two-opens\ntitle: two opens\nservers: {a: {faults: [{on: initialize, do: delay, for: 400ms}]}}\n" +
		"limits: {settle: 1.5s, confirm: 1s}\nsteps:\n" +
		"  - parallel: [[{open: a-1, server: a, timeout: 300ms, expect: any}], [{await: a-1, for: connect, expect: any}, {open: a-1, server: a}]]\n" +
		"  - {close: a-1, expect: any}\n"
	s, err := scenarios.Parse(filepath.Join(t.TempDir(), "two-opens.yaml"), []byte(text))
	require.NoError(t, err)
	j := playUntil(t, short, cellOf(s, spec), play.Limits{}, breaks(""))
	assert.Empty(t, j.Verdict.Doubts, account(j))
}
