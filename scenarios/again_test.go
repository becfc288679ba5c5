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
    steps: [{call: s}]
  - checkpoint: after
`))
	require.NoError(t, err)
	assert.Empty(t, s.Soakable())
	first, third := s.Again(1), s.Again(3)
	require.Len(t, third, 5)
	assert.Equal(t, "s", first[0].Session)
	assert.Equal(t, "s~3", third[0].Session)
	assert.Equal(t, "s~3", third[1].Lanes[0][0].Session)
	assert.Equal(t, "other~3", third[1].Lanes[1][0].Session)
	assert.Equal(t, "after~3", third[4].Name)
	for _, step := range third {
		assert.Nil(t, step.Cycle)
	}
	assert.Equal(t, "s", s.Steps[0].Session, "the scenario stays as it is")
	assert.NotNil(t, s.Expand()[2].Cycle)
}

func TestSoakable(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{"storm": "", "cron": "", "reload": "", "crash": "it ends the host", "restart": "it ends the host"} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		assert.Equal(t, why, s.Soakable(), name)
	}
	s := scenarios.Scenario{Steps: []scenarios.Step{{Op: record.OpCheckpoint, Name: "x"}}}
	assert.NotEmpty(t, s.Soakable())
}
