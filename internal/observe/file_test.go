package observe_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
)

// TestFile has a run with a file, and one without: what is seen of either is the same, and what is in the file.
func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), observe.RunFile)
	var filed, kept []record.Event
	file, err := observe.Create(path, &sync.Mutex{}, func(e record.Event) { filed = append(filed, e) })
	require.NoError(t, err)
	header := observe.Header(record.Header{
		Tool: record.Tool{Version: "1", Go: "go"}, Scenario: record.Scenario{Name: "attach"},
		Host: record.Host{Name: "host", Kind: record.KindAttached}, Limits: record.Limits{Settle: 1, Confirm: 1},
		Witness: record.Witness{Ledger: "none", Census: "procfs"},
	})
	for _, f := range []*observe.File{file, observe.InMemory(&sync.Mutex{}, func(e record.Event) { kept = append(kept, e) })} {
		require.NoError(t, f.WriteHeader(header))
		f.Doubt(record.DoubtNoControl, "token=%s", "hunter2")
		require.Error(t, f.Add(record.Event{Kind: "no such kind"}), "an event that may be in no file")
		require.NoError(t, f.Add(record.Event{Kind: record.WroteStdout, Text: "a line"}), "the file is as it was")
		assert.False(t, f.Over())
		require.NoError(t, f.End(nil))
		assert.True(t, f.Over())
		f.Emit(record.Event{Kind: record.WroteStdout, Text: "after the end"})
	}
	run, err := record.Read(path)
	require.NoError(t, err)
	assert.Equal(t, run.Events, filed)
	require.Len(t, kept, 3)
	for i := range kept {
		assert.Equal(t, int64(i+1), kept[i].Seq)
		assert.GreaterOrEqual(t, kept[i].T, int64(0))
		kept[i].T = filed[i].T
	}
	assert.Equal(t, filed, kept)
	assert.NotContains(t, kept[0].Doubt.Text, "hunter2")
}

// TestEnd says of each error what the file says of it.
func TestEnd(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]record.End{
		observe.Interrupted{Signal: "SIGINT"}: {Reason: record.EndInterrupted, Signal: "SIGINT"},
		observe.ErrHost:                       {Reason: record.EndFailed, Stage: record.StageHost, Error: observe.ErrHost.Error()},
		observe.ErrProgram:                    {Reason: record.EndFailed, Stage: record.StageProgram, Error: observe.ErrProgram.Error()},
		errors.New("a bug"):                   {Reason: record.EndFailed, Stage: record.StageBench, Error: "a bug"},
	} {
		var last record.Event
		f := observe.InMemory(&sync.Mutex{}, func(e record.Event) { last = e })
		require.NoError(t, f.WriteHeader(observe.Header(record.Header{})))
		require.NoError(t, f.End(err))
		require.NotNil(t, last.End)
		assert.Equal(t, want, *last.End)
	}
}

// TestHeader has an id of its own for each run, and keeps one that it is given.
func TestHeader(t *testing.T) {
	t.Parallel()
	a, b := observe.Header(record.Header{}), observe.Header(record.Header{})
	assert.NotEqual(t, a.ID, b.ID)
	assert.Equal(t, a.ID, observe.Header(a).ID)
	assert.NotEmpty(t, a.System.Kernel)
	assert.Equal(t, record.Format, a.Format)
}
