package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// TestIdentitiesAcrossANamespace: what counts are the pids that the bench sees.
// A server below process 1 of another namespace claims other ones.
func TestIdentitiesAcrossANamespace(t *testing.T) {
	t.Parallel()
	if err := keeper.TryPlace(record.PlacePID1); err != nil {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	v, dir := play(t, `name: inside
title: servers that kill their siblings, and one behind a launcher, in a namespace
host: {place: pid-1}
servers:
  only: {}
  killer: {faults: [{on: start, do: kill-siblings, launch: 2}]}
  below: {faults: [{on: start, do: launcher}]}
limits: {settle: 2s, confirm: 1s}
steps:
  - open: s
    server: only
  - open: b
    server: below
  - open: k1
    server: killer
  - open: k2
    server: killer
    expect: any
  - call: s
  - call: b
  - checkpoint: connected
    live: {killer: 1}
`, "exact", nil)
	assert.Empty(t, v.Findings)
	assert.Empty(t, v.Doubts)
	assert.Equal(t, verdict.Clean, v.Outcome)
	var host record.Process
	births := map[string]record.Birth{}
	killed := 0
	for _, e := range events(t, dir) {
		switch e.Kind {
		case record.HostStarted:
			host = *e.Process
		case record.Born:
			births[e.Server] = *e.Birth
		case record.Faulted:
			killed += len(e.Fault.Targets)
		}
	}
	require.Len(t, births, 4)
	assert.Equal(t, 1, killed)
	self := proc.Self()
	for id, b := range births {
		assert.NotZero(t, b.Claimed, id)
		assert.NotEqual(t, b.Claimed, b.PID, id)
		assert.GreaterOrEqual(t, b.Start, self.Start, "%s: the start time is that of a process of this test", id)
		if b.Label != "below" {
			assert.Equal(t, host.PID, b.PPID, id)
			assert.Equal(t, b.PID, b.PGID, "%s: exact gives each a group of its own", id)
		} else {
			assert.NotEqual(t, host.PID, b.PPID, "it has a launcher")
		}
		assert.Equal(t, host.SID, b.SID, id)
	}
}
