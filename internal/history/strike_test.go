package history_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// TestSiblings: whom another server has announced to end is broken from then
// on; nobody else is. The announcement comes before what it leads to.
func TestSiblings(t *testing.T) {
	t.Parallel()
	const second = int64(1e9)
	born := func(id string, pid int) record.Event {
		return record.Event{T: 1, Kind: record.Born, Server: id, Birth: &record.Birth{Identity: record.Identity{PID: pid}, Label: "s"}}
	}
	fault := &record.Fault{Do: "kill-siblings", Targets: []int{101, 102, 104, 105}}
	l := history.Of(&record.Run{Events: []record.Event{
		born("s#1", 101), born("s#2", 102), born("s#3", 103), born("s#4", 104), born("s#5", 105),
		{T: 1 * second, Kind: record.Died, Server: "s#4"},
		{T: 8 * second, Kind: record.SawSignal, Server: "s#1", Signal: "SIGTERM"},
		{T: 9 * second, Kind: record.Faulted, Server: "s#5", Fault: fault},
		{T: 9*second + 1, Kind: record.Died, Server: "s#1"},
		{T: 9*second + 5, Kind: record.SawSignal, Server: "s#2", Signal: "SIGTERM"},
		{T: 9*second + 6, Kind: record.Faulted, Server: "s#5", Fault: fault},
	}})
	for id, want := range map[string]int64{"s#1": 9 * second, "s#2": 9 * second, "s#3": history.Never, "s#4": history.Never, "s#5": history.Never} {
		assert.Equal(t, want, l.Server(id).Broken, id)
	}
	assert.Len(t, l.Server("s#1").Faults, 1, "the second time it was dead, and its pid another's")
	assert.Len(t, l.Server("s#2").Faults, 2)
	assert.Equal(t, "by s#5", l.Server("s#1").Faults[0].Detail)
}
