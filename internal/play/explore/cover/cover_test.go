package cover_test

import (
	"math/rand/v2"
	"slices"
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

// TestAimsStandInTheTable: the guide counts nothing that the table lacks, and aims at all of it in the end.
func TestAimsStandInTheTable(t *testing.T) {
	t.Parallel()
	table := cover.Table(grammar.Reach{})
	aimed := map[cover.Cell]bool{}
	for seed := range uint64(2500) {
		pairs := grammar.Pairs()
		p := grammar.Params{Name: "x", Want: pairs[int(seed)%len(pairs)]}
		for _, c := range cover.Aims(grammar.Make(rand.New(rand.NewPCG(seed, 0)), p)) {
			assert.Contains(t, table, c)
			aimed[c] = true
		}
	}
	missing := slices.DeleteFunc(slices.Clone(table), func(c cover.Cell) bool { return aimed[c] })
	t.Logf("aimed at %d of %d", len(aimed), len(table))
	assert.Less(t, len(missing), len(table)/4, "%v", missing)
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
