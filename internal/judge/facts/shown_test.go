package facts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// TestWhatShowsSomething: evidence is that of a server that had to go, that died, that worked.
func TestWhatShowsSomething(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change       func(f *Facts, cp *Checkpoint, s *history.Server)
		gone, reaped bool
	}{
		"it had gone": {func(*Facts, *Checkpoint, *history.Server) {}, true, true},
		"it was there": {func(_ *Facts, cp *Checkpoint, s *history.Server) {
			cp.Alive, s.Died = []*history.Server{s}, never
		}, false, false},
		"too many": {func(_ *Facts, cp *Checkpoint, s *history.Server) {
			cp.Alive, cp.Extra, s.Died = []*history.Server{s}, []*history.Server{s}, never
		}, true, false},
		"born later": {func(_ *Facts, _ *Checkpoint, s *history.Server) { s.Born, s.Died = 6*sec, 7*sec }, false, false},
		"died later": {func(_ *Facts, cp *Checkpoint, s *history.Server) {
			cp.Alive, s.Died = []*history.Server{s}, 6*sec
		}, false, false},
		"the host had ended": {func(f *Facts, _ *Checkpoint, _ *history.Server) { f.Host().Exited = 4 * sec }, false, false},
		"nobody looked":      {func(_ *Facts, cp *Checkpoint, _ *history.Server) { cp.Settled = nil }, false, false},
		"after the host":     {func(_ *Facts, cp *Checkpoint, _ *history.Server) { cp.HostGone = true }, false, true},
	} {
		f := Of(runOf(born(500*ms, "flaky#1", "s1", 31, host), census(100*sec, record.Census{Role: record.CensusSample})))
		cp := &Checkpoint{Checkpoint: &history.Checkpoint{SettledAt: 5 * sec, Settled: &record.Census{}}}
		f.Checkpoints = []*Checkpoint{cp}
		f.servers[0].Died = 4 * sec
		c.change(f, cp, f.servers[0])
		assert.Equal(t, c.gone, f.HadToGo(), name)
		assert.Equal(t, c.reaped, f.HadToBeReaped(), name)
	}
	again := record.Process{Identity: record.Identity{PID: 21, Start: 9000}, PPID: 10, SID: 21, Comm: "host"}
	before := []record.Event{
		born(500*ms, "flaky#1", "s1", 31, host), at(sec, record.Event{Kind: record.Died, Server: "flaky#1"}),
		at(2*sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}}), at(3*sec, record.Event{Kind: record.HostStarted, Process: &again}),
	}
	f := Of(runOf(append(before, checkpointAt(4*sec, false, nil)...)...))
	assert.False(t, f.HadToGo(), "it was of another life")
	assert.False(t, f.HadToBeReaped(), "it was of another life")
	f = Of(runOf(born(500*ms, "flaky#1", "s1", 31, host), change(sec, record.SessionOpen)))
	s := f.servers[0]
	assert.False(t, f.WasLive(), "it has not worked")
	s.Established = sec
	assert.True(t, f.WasLive())
	s.Session = "s9"
	assert.False(t, f.WasLive(), "of no session")
}
