package play

import (
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// TestTry: a host that works, and one that launches nothing.
func TestTry(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	exact, err := subject.Lookup(self, "exact")
	require.NoError(t, err)
	seen, err := TryHost(t.Context(), Bench{Self: self}, exact)
	require.NoError(t, err)
	assert.Empty(t, seen.Failed)
	require.Len(t, seen.Lines, 3, seen.Lines)
	assert.Equal(t, "It launched 2 servers, and shook hands with 2 of them.", seen.Lines[1])

	idle, err := subject.FromCommand([]string{"sleep", "60", "{{server}}"})
	require.NoError(t, err)
	idle.Start = record.Duration(1)
	seen, err = TryHost(t.Context(), Bench{Self: self}, idle)
	require.NoError(t, err)
	assert.NotEmpty(t, seen.Failed)
}

// called is a run in which servers took a call each.
func called(servers []string) *record.Run {
	run := &record.Run{}
	add := func(e record.Event) {
		e.Seq = int64(len(run.Events) + 1)
		e.T = e.Seq
		run.Events = append(run.Events, e)
	}
	for i, id := range slices.Compact(slices.Sorted(slices.Values(servers))) {
		add(record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{Identity: record.Identity{PID: i + 1, Start: 1}, Label: "tool", Launch: i + 1}})
	}
	for i, id := range servers {
		add(record.Event{Kind: record.RPC, Server: id, RPC: &record.RPCInfo{Method: "tools/call", ID: strconv.Itoa(i), Tool: "echo", Phase: "received"}})
	}
	return run
}

// TestSharing: which servers took the calls of two clients tells who has one.
func TestSharing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers []string
		seen    record.Sharing
	}{
		{[]string{"a", "a", "a"}, record.Shared},
		{[]string{"a", "b", "a"}, record.PerSession},
		{[]string{"a", "b", "c"}, record.PerRequest},
		{[]string{"a", "a", "b"}, ""},
		{[]string{"a", "b", "b"}, ""},
		{[]string{"a", "b"}, ""},
		{[]string{"a", "b", "a", "b"}, ""},
	} {
		l := history.Of(called(c.servers))
		for _, said := range []record.Sharing{record.Shared, record.PerSession, record.PerRequest} {
			seen, line := sharing(l, said)
			assert.Equal(t, c.seen, seen, c.servers)
			switch seen {
			case "":
				assert.Contains(t, line, "could not be seen")
			case said:
				assert.Contains(t, line, "that is "+string(seen)+", as you said")
			default:
				assert.Contains(t, line, "that is "+string(seen)+", not "+string(said))
			}
		}
	}
}
