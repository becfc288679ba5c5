package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// of are the states that a recorded run's own verdict gives its servers.
func of(t *testing.T, file string) (*history.History, []verdict.Finding, map[string]verdict.State) {
	t.Helper()
	run, err := record.Read("../../../testdata/runs/" + file)
	require.NoError(t, err)
	v := verdict.Judge(run)
	h := history.Of(run)
	return h, v.Findings, verdict.StatesOf(h, v.Findings)
}

// TestACleanRunHasNone: no server of it is in a finding.
func TestACleanRunHasNone(t *testing.T) {
	t.Parallel()
	_, findings, of := of(t, "storm-exact.jsonl")
	assert.Empty(t, findings)
	assert.Empty(t, of)
}

// TestRecordedRuns: each server of a finding has what its law shows, and none is overdue before it was born, or after the last event.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct{ overdue, harmed, unreaped bool }{
		"storm-naive.jsonl": {overdue: true, unreaped: true}, "crash-naive.jsonl": {overdue: true}, "cron-reap-all.jsonl": {harmed: true},
	} {
		h, findings, of := of(t, file)
		named := map[string]bool{}
		for i := range findings {
			for _, id := range findings[i].Servers {
				named[id] = true
			}
		}
		var overdue, harmed, unreaped bool
		for id, s := range of {
			assert.True(t, named[id], "%s: no finding names %s", file, id)
			overdue, harmed, unreaped = overdue || s.Overdue != history.Never, harmed || s.Harmed, unreaped || s.Unreaped
			if s.Overdue != history.Never {
				assert.GreaterOrEqual(t, s.Overdue, h.Server(id).Born, "%s: %s", file, id)
				assert.LessOrEqual(t, s.Overdue, h.Last(), "%s: %s", file, id)
			}
		}
		assert.Equal(t, want, struct{ overdue, harmed, unreaped bool }{overdue, harmed, unreaped}, file)
	}
}

// TestSinceWhen: a server that was left over is overdue since its session ended, or got a newer server, or since the checkpoint.
func TestSinceWhen(t *testing.T) {
	t.Parallel()
	finding := []verdict.Finding{{Law: "L1", Servers: []string{"a#1", "nobody#1"}, Checkpoint: "late"}}
	born := func(seq, at int64, id string, pid, launch int, session string) record.Event {
		return record.Event{Seq: seq, T: at, Kind: record.Born, Server: id, Birth: &record.Birth{
			Identity: record.Identity{PID: pid, Start: uint64(pid)}, PPID: 2, PGID: 2, SID: 2, Label: "a", Launch: launch, Session: session,
		}}
	}
	checkpoint := record.Event{Seq: 3, T: 50, Kind: record.CheckpointBegun, Checkpoint: &record.Checkpoint{Name: "late"}}
	for name, c := range map[string]struct {
		second record.Event
		first  string
		want   int64
	}{
		"its session ended":  {record.Event{Seq: 2, T: 20, Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: record.SessionEnded}}, "s", 20},
		"a newer server":     {born(2, 30, "a#2", 11, 2, "s"), "s", 30},
		"another's newer":    {born(2, 30, "a#2", 11, 2, "other"), "s", 50},
		"the checkpoint":     {record.Event{Seq: 2, T: 20, Kind: record.Ready, Server: "a#1"}, "s", 50},
		"no session is told": {born(2, 30, "a#2", 11, 2, ""), "", 50},
	} {
		h := history.Of(&record.Run{Header: record.Header{ID: "r"}, Events: []record.Event{born(1, 10, "a#1", 10, 1, c.first), c.second, checkpoint}})
		assert.Equal(t, map[string]verdict.State{"a#1": {Overdue: c.want}}, verdict.StatesOf(h, finding), name)
	}
}

// TestWhatLawsShow: a breach of some laws says nothing of when a server should have been gone.
func TestWhatLawsShow(t *testing.T) {
	t.Parallel()
	h, _, _ := of(t, "storm-exact.jsonl")
	id := h.Servers()[0].ID
	for law, want := range map[string]verdict.State{
		"L3": {Overdue: history.Never, Harmed: true}, "L4": {Overdue: history.Never, Unreaped: true}, "L7": {Overdue: history.Never},
	} {
		assert.Equal(t, map[string]verdict.State{id: want}, verdict.StatesOf(h, []verdict.Finding{{Law: law, Servers: []string{id}}}), law)
	}
}
