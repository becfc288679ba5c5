//go:build unix

package host_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// inFull is how long a wait takes that does not end early: on a starved machine none does before that is over.
const inFull = 3 * time.Minute

// A wait for what outlived the host ends once nobody is left who could end it, and not before: a server that looks after
// its parent may end by itself.
func TestWaitsForWhatMayChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		faults string
		early  record.EarlyEnd
	}{
		"deaf":     {"{on: eof, do: ignore}", record.EarlyFinal},
		"behind":   {"{on: start, do: launcher, as: shell}, {on: eof, do: ignore}", record.EarlyFinal},
		"helper":   {"{on: start, do: helper, as: session}", record.EarlyFinal},
		"watchdog": {"{on: start, do: watchdog, as: pid, for: 60s}, {on: eof, do: ignore}", ""},
		"leaving":  {"{on: exit, do: delay, for: 60s}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := func(p *host.Params) {
				p.Settle, p.Confirm = record.Duration(3*time.Second), record.Duration(time.Second)
			}
			if c.early != "" {
				limit = func(p *host.Params) {
					p.Settle, p.Confirm = record.Duration(inFull), record.Duration(inFull)
				}
			}
			v, dir := play(t, "name: left\ntitle: What outlives the host\nservers:\n  only: {faults: ["+c.faults+"]}\n"+
				"steps:\n  - {open: s, server: only}\n  - {call: s}\n  - kill: host\n", "naive", limit)
			assert.Equal(t, verdict.Leak, v.Outcome, "%+v", v.Doubts)
			var last record.Checkpoint
			for _, e := range events(t, dir) {
				if e.Kind == record.CheckpointEnded {
					last = *e.Checkpoint
				}
			}
			assert.Equal(t, c.early, last.Early)
			assert.False(t, last.Quiet)
			assert.Less(t, last.Waited.D(), inFull, "waited in full")
		})
	}
}

// What was watched in full while the host lived is not watched in full once more after its end.
func TestSurvivorIsWatchedOnce(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	v, dir := play(t, `name: twice
title: A survivor is there at each checkpoint
servers:
  only: {faults: [{on: start, do: watchdog, as: pid, for: 60s}, {on: eof, do: ignore}]}
steps:
  - {open: s, server: only}
  - {open: s}
  - checkpoint: first
  - checkpoint: second
  - kill: host
`, "naive", func(p *host.Params) {
		p.Settle, p.Confirm = record.Duration(time.Second), record.Duration(3*time.Second)
	})
	assert.Equal(t, verdict.Leak, v.Outcome, "%+v", v.Doubts)
	var waited []time.Duration
	var early []record.EarlyEnd
	for _, e := range events(t, dir) {
		if e.Kind == record.CheckpointEnded {
			waited, early = append(waited, e.Checkpoint.Waited.D()), append(early, e.Checkpoint.Early)
		}
	}
	if assert.Len(t, waited, 3) {
		assert.GreaterOrEqual(t, waited[0], 4*time.Second)
		assert.Less(t, waited[1], 3*time.Second)
		assert.Equal(t, []record.EarlyEnd{"", record.EarlyWaited}, early[:2])
	}
}
