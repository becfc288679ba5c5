package play_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/scenarios"
)

// TestOneIsSavedAndPlayedAgain plays one cell into a folder of runs, and makes
// the same cell of what was saved.
func TestOneIsSavedAndPlayedAgain(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "runs")
	bench := play.Bench{Self: self, Out: out, Page: play.Listed, Limits: play.Limits{Settle: time.Second, Confirm: 300 * time.Millisecond}}
	s, err := scenarios.Builtin("reload")
	require.NoError(t, err)
	h, err := play.TheHost(self, "naive", nil)
	require.NoError(t, err)
	j, err := bench.One(t.Context(), play.Cell{Scenario: s, Host: h})
	require.NoError(t, err)
	assert.Equal(t, verdict.Leak, j.Verdict.Outcome)
	assert.Equal(t, filepath.Join(j.Dir, "report.html"), j.Page)
	assert.FileExists(t, j.Page)
	assert.NotZero(t, j.Run.Header.Seed, "one is drawn")
	command := strings.Join(j.Run.Header.Command, " ")
	assert.Regexp(t, `^leakbench run reload --seed \d+ --settle 1s --confirm 300ms --host naive$`, command)
	latest, err := filepath.EvalSymlinks(filepath.Join(out, "latest"))
	require.NoError(t, err)
	dir, err := filepath.EvalSymlinks(j.Dir)
	require.NoError(t, err)
	assert.Equal(t, dir, latest)

	saved, err := play.Load(j.Dir)
	require.NoError(t, err)
	assert.Equal(t, j.Verdict, saved.Verdict)
	cell, err := play.Replay(self, saved.Run, 0, play.Limits{}, "", nil)
	require.NoError(t, err)
	assert.Equal(t, j.Run.Header.Seed, cell.Seed)
	assert.Equal(t, "naive", cell.Host.ID)
	assert.Equal(t, s.Source, cell.Scenario.Source)
	assert.Equal(t, bench.Limits, cell.Limits)
	cell, err = play.Replay(self, saved.Run, 7, play.Limits{Settle: 2 * time.Second}, "exact", nil)
	require.NoError(t, err)
	assert.Equal(t, "exact", cell.Host.ID)
	assert.EqualValues(t, 7, cell.Seed)
	assert.Equal(t, play.Limits{Settle: 2 * time.Second, Confirm: 300 * time.Millisecond}, cell.Limits)
}

// TestLatestWhileACommandComesUp: who looks for a run whose host keeps it waiting finds it under its short name.
func TestLatestWhileACommandComesUp(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("most users make no links there")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Builtin("storm")
	require.NoError(t, err)
	h, err := play.TheHost(self, "", []string{"sh", "-c", `sleep 60 | "$@"`, "sh", "{{server}}"})
	require.NoError(t, err)
	bench := play.Bench{Self: self, Out: t.TempDir(), Limits: play.Limits{Start: time.Minute}}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := bench.One(ctx, play.Cell{Scenario: s, Host: h})
		ended <- err
	}()
	assert.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(bench.Out, "latest", "run.jsonl"))
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// A bench that can't play says why.
func TestNothingIsSaved(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Builtin("reload")
	require.NoError(t, err)
	h, err := play.TheHost(self, "", nil)
	require.NoError(t, err)
	out := t.TempDir()
	bench := play.Bench{Self: filepath.Join(out, "no-such-program"), Out: filepath.Join(out, "runs")}
	j, err := bench.One(t.Context(), play.Cell{Scenario: s, Host: h})
	require.ErrorContains(t, err, "no-such-program")
	assert.Nil(t, j)
	assert.NoFileExists(t, filepath.Join(bench.Out, "latest"), "latest is a run that has begun")
	file := filepath.Join(out, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	bench.Out = file
	var misuse *play.Misuse
	_, err = bench.One(t.Context(), play.Cell{Scenario: s, Host: h})
	require.ErrorAs(t, err, &misuse)
	assert.Equal(t, play.OtherFolder, misuse.Remedy)
}

func everyScenario(t *testing.T) (all []*scenarios.Scenario) {
	t.Helper()
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		all = append(all, s)
	}
	return all
}

func TestPlans(t *testing.T) {
	t.Parallel()
	all := everyScenario(t)
	once, err := play.Distinct(append(all, all[0]))
	require.NoError(t, err)
	assert.Len(t, once, len(all))
	other := *all[0]
	other.Source += "\n"
	_, err = play.Distinct(append(all, &other))
	require.ErrorContains(t, err, "two scenarios have the name")

	hosts, err := play.Hosts("self", []string{"exact", "published", "exact"})
	require.NoError(t, err)
	assert.Equal(t, "exact", hosts[0].ID)
	seen := map[string]bool{}
	gateways := false
	for _, h := range hosts {
		assert.False(t, seen[h.ID], h.ID)
		seen[h.ID] = true
		isGateway := h.Kind == "gateway"
		assert.True(t, isGateway || !gateways, "gateways come last: %s", h.ID)
		gateways = gateways || isGateway
	}
}

// Each shard has its share, and all of them together everything.
func TestShares(t *testing.T) {
	t.Parallel()
	all := everyScenario(t)
	part, mine := play.Share(gate.Shard{}, "exact", 1, all, nil)
	assert.Equal(t, all, mine)
	assert.Len(t, part.Plan, len(all))
	seen := map[string]bool{}
	for i := 1; i <= 3; i++ {
		part, mine := play.Share(gate.Shard{Index: i, Count: 3}, "exact", 2, all, nil)
		assert.Len(t, part.Plan, len(all))
		assert.Equal(t, 2, part.Repeat)
		assert.NotEmpty(t, part.Mark)
		for _, s := range mine {
			assert.False(t, seen[s.Name], s.Name)
			seen[s.Name] = true
		}
	}
	assert.Len(t, seen, len(all))
}
