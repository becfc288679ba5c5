package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
)

// TestHoldsSayWhatTheTitleSays: of a process that is busy, one look may show a wait, and another thread may wait all the time.
func TestHoldsSayWhatTheTitleSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  string
		state record.State
		waits string
	}{
		"a spinner between two turns":             {"spinner", record.StateSleeping, "is running"},
		"a server that spins at stdin EOF":        {"eof-spin", record.StateSleeping, "is running"},
		"a server that spins at a broken pipe":    {"epipe-spin", record.StateSleeping, "is running"},
		"one that waits":                          {"orphan", record.StateSleeping, "waits in read(0)"},
		"one that runs, with a thread that reads": {"orphan", record.StateRunning, "is running"},
		"a zombie": {"spinner", record.StateZombie, ""},
	} {
		e := record.Evidence{Process: record.Process{State: c.state}, Syscall: "read(0)", Wchan: "anon_pipe_read"}
		holds := model.StdinHolds(&verdict.Finding{Kind: c.kind, Evidence: []record.Evidence{e}})
		require.Len(t, holds, 1, name)
		assert.Equal(t, c.waits, holds[0].Waits, name)
	}
	for _, kind := range []string{"spinner", "eof-spin", "epipe-spin", "idle-cpu"} {
		assert.True(t, law.KindOf(kind).Busy, kind)
	}
}
