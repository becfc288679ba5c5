package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
)

// The seed of the run decides which launches do it, in the plan and in the
// servers alike.
func TestSeedDecides(t *testing.T) {
	t.Parallel()
	const source = `name: seeded
title: Some launches are slow
servers:
  only: {faults: [{on: start, do: delay, for: 1ms, probability: 0.5}]}
limits: {settle: 2s, confirm: 500ms}
steps:
  - {open: s, server: only}
  - repeat: 7
    steps: [{open: s}]
`
	f := fakeserver.Fault{On: "start", Do: "delay", Probability: 0.5}
	for _, seed := range []uint64{1, 2} {
		v, dir := play(t, source, "exact", func(p *host.Params) { p.Seed = seed })
		assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
		run, err := record.Read(dir)
		require.NoError(t, err)
		got, want := map[string]bool{}, map[string]bool{}
		for _, e := range run.Events {
			if e.Kind == record.Faulted {
				got[e.Server] = true
			}
		}
		for launch := 1; launch <= 8; launch++ {
			if f.Due(seed, "only", launch) {
				want[fmt.Sprintf("only#%d", launch)] = true
			}
		}
		assert.Equal(t, want, got)
		assert.Equal(t, len(want), run.Header.Plan.Faults[0].Fires)
		assert.NotContains(t, []int{0, 8}, len(want), "this seed decides nothing")
	}
}

// A correct host ends whatever stays, spins, swells or no longer reads.
func TestExactEndsWhateverStays(t *testing.T) {
	t.Parallel()
	var servers, opens, closes strings.Builder
	for i, faults := range []string{
		"{on: eof, do: linger-timer}", "{on: eof, do: linger-socket}, {on: start, do: ignore-term}", "{on: eof, do: linger-thread}, {on: term, do: ignore}",
		"{on: eof, do: spin}, {on: term, do: ignore}", "{on: eof, do: write}, {on: epipe, do: spin}", "{on: start, do: swell, mib: 20, each: 1ms}",
		"{on: start, do: flood-stderr}", "{on: term, do: delay, for: 100ms}, {on: eof, do: ignore}",
	} {
		fmt.Fprintf(&servers, "  s%d: {faults: [%s]}\n", i, faults)
		fmt.Fprintf(&opens, "  - {open: c%d, server: s%d}\n  - {call: c%d}\n", i, i, i)
		fmt.Fprintf(&closes, "  - {close: c%d}\n", i)
	}
	for _, do := range []string{"stop-reading", "spin", "ignore-term", "partial", "garbage", "flood-stderr", "{do: swell, mib: 9, each: 1ms}", "banner", "bad-utf8", "{do: long-line, mib: 1}"} {
		fmt.Fprintf(&opens, "  - {open: b, server: broken}\n  - {break: b, with: %s}\n  - {call: b, timeout: 300ms, expect: any}\n", do)
	}
	v, _ := play(t, "name: stays\ntitle: Servers that stay\nservers:\n"+servers.String()+"  broken:\nlimits: {settle: 6s, confirm: 500ms}\nsteps:\n"+
		opens.String()+closes.String()+"  - {close: b, expect: any}\n  - checkpoint: closed\n", "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v\n%+v", v.Findings, v.Doubts)
	assert.Equal(t, 18, v.Spawned)
}

// TestAServerThatDoesNotComeBack: where a session has lost its server, and the host does not claim to launch another one unasked, the next
// break waits no longer than the settle time.
func TestAServerThatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	_, dir := play(t, `name: lost
title: Another session's open ends the server of this one
servers: {mine: , other: }
limits: {settle: 300ms, confirm: 300ms}
steps:
  - {open: s, server: mine}
  - {open: t, server: other}
  - {open: t}
  - {break: s, with: exit}
`, "reap-all", nil)
	run, err := record.Read(dir)
	require.NoError(t, err)
	for _, e := range run.Events {
		if e.Kind == record.StepEnded && e.Step.Op == record.OpBreak {
			assert.Contains(t, e.Step.Error, "its server has ended, and no other has come up within")
			return
		}
	}
	t.Error("the break was not played")
}
