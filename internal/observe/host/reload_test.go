package host_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// TestReloadThatMovesOneOfTwo: the session that has moved is open, and its server is no leak.
func TestReloadThatMovesOneOfTwo(t *testing.T) {
	t.Parallel()
	v, dir := play(t, `name: half
title: a reload that moves one session of two
servers:
  only:
    faults:
      - {on: initialize, do: reject, launch: 4}
      - {on: initialize, do: reject, launch: 5}
      - {on: initialize, do: reject, launch: 6}
      - {on: initialize, do: reject, launch: 7}
      - {on: initialize, do: reject, launch: 8}
      - {on: initialize, do: reject, launch: 9}
limits: {settle: 1s, confirm: 500ms, spawns_per_session: 20}
steps:
  - {open: a, server: only}
  - {open: b, server: only}
  - {reload: only, expect: fail}
  - checkpoint: reloaded
`, "exact", nil)
	run, err := record.Read(dir)
	require.NoError(t, err)
	after := map[record.SessionState]int{}
	for i := range run.Events {
		if s := run.Events[i].Session; s != nil && (s.Why == record.WhyReload || s.Why == record.WhyNoReload) {
			after[s.State]++
		}
	}
	assert.Equal(t, map[record.SessionState]int{record.SessionOpening: 2, record.SessionOpen: 1, record.SessionEnded: 1}, after)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v\n%+v", v.Findings, v.Doubts)
}
