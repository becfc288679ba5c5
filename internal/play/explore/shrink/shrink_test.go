package shrink_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/explore/shrink"
	"github.com/leakbench/leakbench/scenarios"
)

const big = `
name: x
title: x
servers:
  alpha: {faults: [{on: eof, do: ignore, launch: 2}, {on: call, do: hang, after: 1}]}
  beta: {era: dual, optional: true}
  gamma:
steps:
  - {open: a, server: alpha}
  - {open: b, server: beta}
  - repeat: 4
    steps:
      - {call: b}
      - {call: a, tool: sleep, args: {ms: 10}, timeout: 1s, expect: any}
  - parallel:
      -
        - {call: b, tool: sleep, args: {ms: 60000}, timeout: 1s}
      -
        - {await: b, for: call}
        - {close: a}
  - tick:
      jobs: [{server: gamma, count: 3}, {server: alpha}]
      during: [{call: b}]
  - {checkpoint: one}
  - {kill: host}
`

func smallest(t *testing.T, most int, shows func(s *scenarios.Scenario) bool) (*scenarios.Scenario, int) {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte(big))
	require.NoError(t, err)
	require.True(t, shows(s))
	least, tried, err := shrink.Smallest(t.Context(), s, shrink.Params{Side: 3, Most: most, Shows: func(_ context.Context, all []*scenarios.Scenario) ([]bool, error) {
		var shown []bool
		for _, c := range all {
			shown = append(shown, shows(c))
		}
		return shown, nil
	}})
	require.NoError(t, err)
	return least, tried
}

func has(s *scenarios.Scenario, words ...string) bool {
	text := s.Text()
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// TestSmallest: nothing is left but what shows it.
func TestSmallest(t *testing.T) {
	t.Parallel()
	least, tried := smallest(t, 1000, func(s *scenarios.Scenario) bool { return has(s, "do: ignore", "close: a") })
	assert.Equal(t, scenarios.Size{Steps: 2, Servers: 1, Faults: 1}, least.Size(), least.Text())
	assert.NotContains(t, least.Text(), "launch")
	assert.Less(t, tried, 200)

	least, _ = smallest(t, 1000, func(s *scenarios.Scenario) bool { return has(s, "tick", "server: gamma", "kill") })
	assert.Equal(t, scenarios.Size{Steps: 2, Servers: 1}, least.Size(), least.Text())

	least, _ = smallest(t, 1000, func(s *scenarios.Scenario) bool { return has(s, "await: b") })
	assert.Equal(t, 4, least.Size().Steps, least.Text()) // the open, the parallel, what waits, and what it waits for
}

// TestAllIsNeeded: what can't be made smaller stays.
func TestAllIsNeeded(t *testing.T) {
	t.Parallel()
	first := ""
	least, _ := smallest(t, 1000, func(s *scenarios.Scenario) bool {
		if first == "" {
			first = s.Text()
		}
		return s.Text() == first
	})
	assert.Equal(t, first, least.Text())
}

// TestMost keeps to the number of tries, and an error ends the search.
func TestMost(t *testing.T) {
	t.Parallel()
	_, tried := smallest(t, 5, func(*scenarios.Scenario) bool { return true })
	assert.LessOrEqual(t, tried, 5)
	s, err := scenarios.Parse("x.yaml", []byte(big))
	require.NoError(t, err)
	broken := errors.New("broken")
	_, _, err = shrink.Smallest(t.Context(), s, shrink.Params{Most: 9, Shows: func(context.Context, []*scenarios.Scenario) ([]bool, error) { return nil, broken }})
	assert.ErrorIs(t, err, broken)
}

// TestRounds: what shows it side by side is cut at once, and each smaller one is told.
func TestRounds(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("x.yaml", []byte(big))
	require.NoError(t, err)
	rounds, told := 0, []*scenarios.Scenario{}
	least, _, err := shrink.Smallest(t.Context(), s, shrink.Params{
		Side: 8, Most: 1000, Smaller: func(s *scenarios.Scenario) { told = append(told, s) },
		Shows: func(_ context.Context, all []*scenarios.Scenario) (shown []bool, _ error) {
			rounds++
			assert.LessOrEqual(t, len(all), 8)
			for _, c := range all {
				shown = append(shown, has(c, "do: ignore", "close: a"))
			}
			return shown, nil
		},
	})
	require.NoError(t, err)
	assert.Less(t, rounds, 12)
	require.NotEmpty(t, told)
	assert.Equal(t, least, told[len(told)-1])
}

// TestNeverLarger: what two cuts write anew does not come twice where they are made at once.
func TestNeverLarger(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"open: a", "call: a", "call: b", "await: b", "tick", "close: a", "checkpoint", "kill", "do: ignore", "tool: sleep"} {
		s, err := scenarios.Parse("x.yaml", []byte(big))
		require.NoError(t, err)
		before := s
		_, _, err = shrink.Smallest(t.Context(), s, shrink.Params{
			Side: 8, Most: 1000,
			Smaller: func(s *scenarios.Scenario) {
				assert.LessOrEqual(t, s.Size().Steps, before.Size().Steps, "%s\n%s\n%s", word, before.Text(), s.Text())
				before = s
			},
			Shows: func(_ context.Context, all []*scenarios.Scenario) (shown []bool, _ error) {
				for _, c := range all {
					shown = append(shown, has(c, word))
				}
				return shown, nil
			},
		})
		require.NoError(t, err)
	}
}

// TestOnceMore: a fault that a run once seemed to need is tried again, and goes.
func TestOnceMore(t *testing.T) {
	t.Parallel()
	hidden := map[string]bool{}
	least, _ := smallest(t, 1000, func(s *scenarios.Scenario) bool {
		if !has(s, "do: ignore", "close: a") {
			return false
		}
		again := has(s, "do: hang") || hidden[s.Text()]
		hidden[s.Text()] = true
		return again
	})
	assert.NotContains(t, least.Text(), "do: hang")
}
