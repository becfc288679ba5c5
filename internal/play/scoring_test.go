package play_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

func TestMain(m *testing.M) { reexectest.Main(m) }

// table is two reference hosts, and one that does not reload and is out of
// another scenario, in two scenarios.
func table(t *testing.T) play.Scoring {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p := play.Scoring{
		Bench: play.Bench{Self: self, Limits: play.Limits{Settle: time.Second, Confirm: 300 * time.Millisecond}},
		Dir:   t.TempDir(), Jobs: 3, Seed: 1,
	}
	for _, name := range []string{"exact", "naive", "exact"} {
		spec, err := subject.Lookup(self, name)
		require.NoError(t, err)
		p.Hosts = append(p.Hosts, play.Host{ID: name, Spec: spec})
	}
	p.Hosts[2].ID = "../tame"
	p.Hosts[2].NotApplicable = map[string]string{"reload": "it does not reload"}
	p.Hosts[2].Scenarios = map[string]subject.Limits{"shutdown": {NotApplicable: "it never ends"}}
	for _, name := range []string{"reload", "shutdown"} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		p.Scenarios = append(p.Scenarios, s)
	}
	return p
}

// counting notes how many runs there were to play and how many there were.
func counting(p *play.Scoring) (played, found *int) {
	played, found = new(int), new(int)
	p.OnPlan = func(_, have int) { *found = have }
	p.OnCell = func(c scoreboard.Cell, _ int) {
		if !c.Again { // a busy machine may have one made sure of
			*played++
		}
	}
	return played, found
}

func short(b *scoreboard.Board) map[string]string {
	cells := map[string]string{}
	for _, c := range b.Cells {
		text := string(c.Status)
		for _, e := range c.Errors {
			text += " " + e.Law
		}
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		cells[c.Scenario+" "+c.Host] = text
	}
	return cells
}

func TestBoardIsPlayedOnce(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	p := table(t)
	played, found := counting(&p)
	first, err := p.Play(t.Context())
	require.NoError(t, err)
	want := map[string]string{
		"reload exact": "clean", "reload naive": "leak L1", "reload ../tame": "n.a.: reload: it does not reload",
		"shutdown exact": "clean", "shutdown naive": "leak L2", "shutdown ../tame": "n.a.: it never ends",
	}
	assert.Equal(t, want, short(first))
	assert.Equal(t, 4, *played, "what is not applicable from the start is not played")
	assert.Equal(t, map[scoreboard.Status]int{scoreboard.Clean: 2, scoreboard.Leak: 2, scoreboard.NotApplicable: 2}, first.Count(""))
	for _, c := range first.Cells {
		if c.Page == "" {
			continue
		}
		assert.FileExists(t, c.Page)
		rel, err := filepath.Rel(p.Dir, c.Page)
		require.NoError(t, err)
		assert.True(t, filepath.IsLocal(rel), "%s is not in the folder", rel)
	}

	*played = 0
	again, err := p.Play(t.Context())
	require.NoError(t, err)
	assert.Equal(t, want, short(again))
	assert.Equal(t, [2]int{0, 4}, [2]int{*played, *found}, "nothing has changed, so nothing is played")

	// What a run depends on has changed, of one host.
	*played = 0
	p.Hosts[0].Version = "2"
	_, err = p.Play(t.Context())
	require.NoError(t, err)
	assert.Equal(t, [2]int{2, 2}, [2]int{*played, *found})

	// Of all: the tool; a scenario's text.
	*played = 0
	p.Scenarios = p.Scenarios[:1]
	source := *p.Scenarios[0]
	source.Source += "\n# changed\n"
	p.Scenarios[0] = &source
	_, err = p.Play(t.Context())
	require.NoError(t, err)
	assert.Equal(t, [2]int{2, 0}, [2]int{*played, *found})
}

// lateHost comes up the second time only.
func lateHost(t *testing.T, self string) play.Host {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "late")
	script := fmt.Sprintf("#!/bin/sh\nmkdir '%s/once' 2>/dev/null && exit 1\nexec '%s' host exact\n", dir, self)
	require.NoError(t, files.Program(program, []byte(script)))
	spec, err := subject.Lookup(self, program)
	require.NoError(t, err)
	return play.Host{ID: "late", Spec: spec}
}

func TestInconclusiveIsPlayedAgainAlone(t *testing.T) {
	t.Parallel()
	p := table(t)
	p.Hosts, p.Scenarios = []play.Host{lateHost(t, p.Self), p.Hosts[0]}, p.Scenarios[:1]
	var seen []scoreboard.Status
	p.OnCell = func(c scoreboard.Cell, _ int) {
		if c.Host == "late" {
			seen = append(seen, c.Status)
		}
	}
	board, err := p.Play(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []scoreboard.Status{scoreboard.Inconclusive, scoreboard.Clean}, seen)
	assert.True(t, board.Cells[0].Again)
	assert.Equal(t, "alone", filepath.Base(filepath.Dir(board.Cells[0].Run)))

	// That it was played again is still known later; nothing is played a third time.
	played, found := counting(&p)
	board, err = p.Play(t.Context())
	require.NoError(t, err)
	assert.True(t, board.Cells[0].Again)
	assert.Equal(t, [2]int{0, 2}, [2]int{*played, *found})

	// One at a time is alone from the start.
	p.Jobs, p.Dir, p.Hosts = 1, t.TempDir(), []play.Host{lateHost(t, p.Self)}
	played, _ = counting(&p)
	board, err = p.Play(t.Context())
	require.NoError(t, err)
	assert.Equal(t, scoreboard.Inconclusive, board.Cells[0].Status)
	assert.Equal(t, 1, *played)
}

func TestStoppedAndGoneOn(t *testing.T) {
	t.Parallel()
	p := table(t)
	p.Jobs, p.Scenarios = 1, p.Scenarios[:1]
	ctx, cancel := context.WithCancel(t.Context())
	p.OnCell = func(scoreboard.Cell, int) { cancel() }
	board, err := p.Play(ctx)
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, board)

	played, found := counting(&p)
	board, err = p.Play(t.Context())
	require.NoError(t, err)
	assert.Len(t, board.Cells, 3)
	assert.Equal(t, [2]int{1, 1}, [2]int{*played, *found})
}

func TestWhatIsNotInstalledSaysHowTo(t *testing.T) {
	t.Parallel()
	p := table(t)
	p.Hosts = p.Hosts[:1]
	p.Hosts[0].File, p.Hosts[0].Argv, p.Hosts[0].Given = "x/host.yaml", []string{"{{install}}/bin/x"}, "x@2"
	p.Hosts[0].Install, p.Hosts[0].InstallDir = &subject.Install{}, filepath.Join(t.TempDir(), "none")
	played, _ := counting(&p)
	board, err := p.Play(t.Context())
	require.NoError(t, err)
	assert.Zero(t, *played)
	assert.Equal(t, scoreboard.NotInstalled, board.Cells[0].Status)
	assert.Equal(t, "leakbench hosts install x@2", board.Hosts[0].Install)
}
