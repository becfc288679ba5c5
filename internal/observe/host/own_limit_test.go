package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
)

// left is a play whose open and call are left to the host's own time limit, which is longer than the bench waits.
const left = `name: left
title: a host that is left alone
servers:
  mute: {faults: [{on: initialize, do: hang, launch: 1}]}
  tool: {faults: [{on: call, do: hang, launch: 1}]}
limits: {settle: 1s, confirm: 500ms, patience: 300ms}
steps:
  - {open: work, server: tool}
  - parallel:
      - - {open: late, server: mute, patient: true, defining: true}
      - - {call: work, patient: true, defining: true}
  - open: late
  - call: late
  - open: work
  - call: work
  - checkpoint: after
`

// steps are those of a run, as its file has them.
func steps(t *testing.T, dir string) []*history.Step {
	t.Helper()
	run, err := record.Read(dir)
	require.NoError(t, err)
	return history.Of(run).Steps()
}

// TestNoLimitOfItsOwn: the requests are cancelled and not applicable, the play goes on, and the host is clean.
func TestNoLimitOfItsOwn(t *testing.T) {
	t.Parallel()
	v, dir := play(t, left, "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%v %v", v.Findings, v.Doubts)
	all := steps(t, dir)
	require.Len(t, all, 8, "with the host's start and its stop")
	patient := 0
	for _, s := range all {
		if s.Patience == 0 {
			assert.False(t, s.Skipped, "%s", s.Op)
			continue
		}
		patient++
		assert.True(t, s.Skipped)
		assert.Equal(t, "the host has no limit of its own within 300 ms", s.Error)
		assert.GreaterOrEqual(t, s.Took.D(), 300*time.Millisecond)
	}
	assert.Equal(t, 2, patient)
}

// TestALimitOfItsOwn: a host that gives up in time is told by when it did.
func TestALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	v, dir := play(t, left, "reap-all", func(p *host.Params) { p.Patience = record.Duration(20 * time.Second) })
	assert.NotEqual(t, verdict.Inconclusive, v.Outcome, "%v", v.Doubts)
	for _, s := range steps(t, dir) {
		if s.Patience > 0 {
			assert.False(t, s.Skipped, "%s", s.Error)
			assert.Equal(t, 20*time.Second, s.Patience.D(), "as the user insists on")
			assert.Greater(t, s.Took.D(), 2*time.Second)
		}
	}
}

// TestAHostThatTakesNoCancel is asked nothing more for these sessions; for others it is.
func TestAHostThatTakesNoCancel(t *testing.T) {
	t.Parallel()
	other := strings.Replace(left, "  - checkpoint", "  - {open: other, server: tool}\n  - checkpoint", 1)
	v, dir := play(t, other, "exact", func(p *host.Params) { p.Host.NotApplicable = map[string]string{driver.OpCancel: "it has none"} })
	assert.Empty(t, v.Findings)
	assert.Empty(t, v.Doubts)
	all := steps(t, dir)
	require.Len(t, all, 5, "two of them in vain, another session, and the stop")
	assert.Equal(t, "other", all[3].Session)
	assert.True(t, all[3].OK)
	assert.Equal(t, record.OpStop, all[4].Op)
}

// TestALateCancel comes that much later than the request is in the server.
func TestALateCancel(t *testing.T) {
	t.Parallel()
	v, dir := play(t, `name: late
title: a call and a connect are cancelled late
servers:
  mute: {faults: [{on: initialize, do: hang, launch: 1}]}
  tool:
limits: {settle: 1s, confirm: 500ms}
steps:
  - {open: work, server: tool}
  - parallel:
      - - {call: work, tool: sleep, args: {ms: 60000}, cancel: true, cancel_after: 200ms}
      - - {open: late, server: mute, cancel: true, cancel_after: 200ms}
  - {call: work, tool: sleep, args: {ms: 1}}
  - checkpoint: after
`, "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%v %v", v.Findings, v.Doubts)
	cancelled := 0
	for _, s := range steps(t, dir) {
		if s.Cancelled {
			cancelled++
			assert.GreaterOrEqual(t, s.Took.D(), 200*time.Millisecond, "%s", s.Op)
		}
	}
	assert.Equal(t, 2, cancelled)
}

// TestWhatEndsBeforeItsLateCancel was not cut off, and nobody waits for the rest of the time.
func TestWhatEndsBeforeItsLateCancel(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	v, _ := play(t, `name: late
title: a call ends before it is cancelled
servers: {tool: }
limits: {settle: 1s, confirm: 500ms}
steps:
  - {open: work, server: tool}
  - {call: work, tool: sleep, args: {ms: 50}, cancel: true, cancel_after: 1m}
  - checkpoint: after
`, "exact", nil)
	assert.Contains(t, codes(v), string(record.DoubtNoCancel))
	assert.Less(t, time.Since(begun), 30*time.Second)
}
