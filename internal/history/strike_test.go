package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// TestSiblings: whom another server has announced to end is broken from then
// on, whichever of the two words came first; nobody else is.
func TestSiblings(t *testing.T) {
	t.Parallel()
	const second = int64(1e9)
	born := func(id string, pid int) record.Event {
		return record.Event{T: 1, Kind: record.Born, Server: id, Birth: &record.Birth{Identity: record.Identity{PID: pid}, Label: "s"}}
	}
	l := history.Of(&record.Run{Events: []record.Event{
		born("s#1", 101), born("s#2", 102), born("s#3", 103), born("s#4", 104), born("s#5", 105),
		{T: 1 * second, Kind: record.Died, Server: "s#4"},
		{T: 9 * second, Kind: record.Died, Server: "s#1"},
		{T: 9*second + 1, Kind: record.SawSignal, Server: "s#2", Signal: "SIGTERM"},
		{T: 9*second + 5, Kind: record.Faulted, Server: "s#5", Fault: &record.Fault{Do: "kill-siblings", Targets: []int{101, 102, 104, 105}}},
	}})
	for id, want := range map[string]int64{"s#1": 9 * second, "s#2": 9*second + 1, "s#3": history.Never, "s#4": history.Never, "s#5": history.Never} {
		assert.Equal(t, want, l.Server(id).Broken, id)
	}
	assert.Equal(t, "by s#5", l.Server("s#1").Faults[0].Detail)
}
