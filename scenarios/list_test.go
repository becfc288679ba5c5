package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

const listing = `
name: x
title: x
servers:
  alpha:
    faults: [{on: list, do: hang}]
steps:
  - {open: a, server: alpha, expect: any}
  - {list: a, what: resources, timeout: 1s, expect: any}
  - {list: a, cancel: true}
`

// TestListStep: how a list is read.
func TestListStep(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("x.yaml", []byte(listing))
	require.NoError(t, err)
	assert.Equal(t, "resources", s.Steps[1].Listed())
	assert.Equal(t, "tools", s.Steps[2].Listed())
	assert.Equal(t, record.ExpectFail, s.Steps[2].Expect, "one that is cancelled fails")
	_, err = scenarios.Parse("x.yaml", []byte("name: x\ntitle: x\nservers: {a: }\nsteps:\n  - {open: s, server: a}\n  - {list: s, what: hats}\n"))
	assert.ErrorContains(t, err, "hats")
}

// TestListsThatCannotBeAskedFor: they are left out, unless the scenario is about them.
func TestListsThatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	mute := scenarios.Ability{Cannot: map[record.Op]string{record.OpList: "it has none"}}
	s, err := scenarios.Parse("x.yaml", []byte(listing))
	require.NoError(t, err)
	assert.False(t, s.Unlisted())
	parts, why := s.Cast(mute)
	require.Empty(t, why)
	require.Len(t, parts[0].Steps, 1)
	assert.True(t, parts[0].Unlisted(), "the host has to ask by itself")
	s.Steps[1].Defining = true
	_, why = s.Cast(mute)
	assert.Equal(t, "list: it has none", why)
}
