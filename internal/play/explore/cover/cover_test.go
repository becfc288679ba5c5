package cover_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/explore/cover"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func cell(on, do string, op record.Op, state cover.State) cover.Cell {
	return cover.Cell{Pair: grammar.Pair{On: on, Do: do}, Op: op, State: state}
}

// TestAims: what a scenario aims at follows from its steps.
func TestAims(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("x.yaml", []byte(`
name: x
title: x
servers:
  alpha:
    faults:
      - {on: eof, do: ignore}
      - {on: initialize, do: delay, for: 1s}
steps:
  - {open: a, server: alpha}
  - {break: a, with: exit}
  - parallel:
      -
        - {call: a, tool: sleep, args: {ms: 1000}}
      -
        - {await: a, for: call}
        - {open: a}
  - {close: a}
  - {open: a, cancel: true}
  - {kill: host}
`))
	require.NoError(t, err)
	assert.Equal(t, []cover.Cell{
		cell("initialize", "delay", record.OpOpen, cover.New),
		cell("order", "exit", record.OpBreak, cover.Open),
		cell("eof", "ignore", record.OpOpen, cover.InCall),
		cell("initialize", "delay", record.OpOpen, cover.InCall),
		cell("eof", "ignore", record.OpClose, cover.Open),
		cell("initialize", "delay", record.OpOpen, cover.Ended),
		cell("eof", "ignore", record.OpCancel, cover.Connecting),
	}, cover.Aims(s))
}

// TestAimsStandInTheTable: the guide counts nothing that the table lacks, and brings a host into all that the table has.
func TestAimsStandInTheTable(t *testing.T) {
	t.Parallel()
	type asked struct {
		op    record.Op
		state cover.State
	}
	table, want, aimed := map[cover.Cell]bool{}, map[asked]bool{}, map[asked]bool{}
	for _, c := range cover.Table(grammar.Reach{}) {
		table[c], want[asked{c.Op, c.State}] = true, true
	}
	cells := cover.Table(grammar.Reach{})
	for i, cell := range cells {
		seed := uint64(i)
		p := grammar.Params{Name: "x", Want: cell}
		for _, c := range cover.Aims(grammar.Make(rand.New(rand.NewPCG(seed, 0)), p)) {
			require.True(t, table[c], "%v", c)
			aimed[asked{c.Op, c.State}] = true
		}
	}
	assert.Equal(t, want, aimed)
}

// TestUnreached names what a host can't be asked, and why.
func TestUnreached(t *testing.T) {
	t.Parallel()
	tame := grammar.Reach{Cannot: map[record.Op]string{record.OpReload: "it reads its file once", record.OpTick: "it has no jobs"}}
	assert.Equal(t, []string{
		"on ping: no step makes a host ping its server",
		"on epipe: whether a server writes once nobody reads it can't be asked for",
		"reload: it reads its file once", "tick: it has no jobs",
	}, cover.Unreached(tame))
	for _, c := range cover.Table(tame) {
		assert.NotContains(t, []record.Op{record.OpReload, record.OpJob}, c.Op)
	}
}
