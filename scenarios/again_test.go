package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// TestAgain: each repetition has sessions and checkpoints of its own, also those inside others, and the first one those of the file.
func TestAgain(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("mine.yaml", []byte(`name: mine
title: t
servers:
  app:
steps:
  - {open: s, server: app}
  - parallel:
      - [{call: s}]
      - [{open: other, server: app}]
  - repeat: 2
    steps:
      - parallel: [[{call: s}], [{call: other}]]
      - tick: {jobs: [{server: app}], during: [{call: s}]}
  - checkpoint: after
`))
	require.NoError(t, err)
	assert.Empty(t, s.Soakable())
	first, third := s.Again(1), s.Again(3)
	require.Len(t, third, 7)
	assert.Equal(t, "s", first[0].Session)
	assert.Equal(t, "s~3", third[0].Session)
	assert.Equal(t, "s~3", third[1].Lanes[0][0].Session)
	assert.Equal(t, "other~3", third[1].Lanes[1][0].Session)
	for _, i := range []int{2, 4} { // each is renamed once, though they were written once
		assert.Equal(t, "s~3", third[i].Lanes[0][0].Session)
		assert.Equal(t, "other~3", third[i].Lanes[1][0].Session)
		assert.Equal(t, "s~3", third[i+1].Steps[0].Session)
	}
	assert.Equal(t, "after~3", third[6].Name)
	assert.Empty(t, third[6].Session)
	assert.Equal(t, "s~2", s.Again(2)[0].Session)
	for _, step := range third {
		assert.Nil(t, step.Cycle)
	}
	assert.Equal(t, "s", s.Steps[0].Session, "the scenario stays as it is")
	assert.NotNil(t, s.Expand()[3].Cycle)
}

func TestSoakable(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{"storm": "", "cron": "", "reload": "", "crash": "it ends the host", "restart": "it ends the host"} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		assert.Equal(t, why, s.Soakable(), name)
	}
	for why, step := range map[string]scenarios.Step{"it asks nothing of the host": {Op: record.OpCheckpoint, Name: "x"}, "it uses up pids": {Op: record.OpRecycle}} {
		s := scenarios.Scenario{Steps: []scenarios.Step{step}}
		assert.Equal(t, why, s.Soakable())
	}
}
