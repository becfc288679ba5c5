package scenarios_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// FuzzParse: whatever the text, there is a scenario that can be played and
// planned, or there are problems with places that are in the text.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"*.yaml", "testdata/errors/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, path := range paths {
			src, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(src)
		}
	}
	for _, src := range []string{
		"\uFEFF", "\t", "- - - -", "? a\n: b", "{", "]", "a: &a *a", "<<: {a: b}", "'", "\"\\", "|\n x", "a: >-\n", "---\n---\n", "%YAML 9\n", "...\n",
		"{servers: {a: , a: }, steps: [{repeat: 100000, steps: [{repeat: 100000, steps: []}]}]}", "!!binary x", "servers: {1: 2, [a]: b, {c: d}: e}",
		"a: 0x7fffffffffffffffff", "a: .nan", "a: -.inf", "a: 1e999", "a: 0b1", "a: 0o7", "a: 1_0", "x: \"\\x00\\uD800\"", "a:\n - b\n  - c", strings.Repeat("[", 100), strings.Repeat("- ", 100),
		play("one:", "- {open: a, server: one}\n- repeat: 4999\n  steps: [{call: a}]"),
		play("one: {faults: [{on: start, do: delay, for: 1ns}]}", "- tick: {jobs: [{server: one, count: 1000}]}"),
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := scenarios.Parse("fuzz.yaml", src)
		if err == nil {
			requirePlayable(t, s)
			return
		}
		var all scenarios.Errors
		require.ErrorAs(t, err, &all)
		require.Nil(t, s)
		requirePlaces(t, src, all)
	})
}

func requirePlayable(t *testing.T, s *scenarios.Scenario) {
	t.Helper()
	require.NotEmpty(t, s.Servers)
	steps := s.Expand()
	require.LessOrEqual(t, len(steps), 100_000)
	labels := map[string]bool{}
	for _, server := range s.Servers {
		require.False(t, labels[server.Label])
		labels[server.Label] = true
		require.Empty(t, server.Script.Check())
	}
	var check func([]scenarios.Step)
	check = func(steps []scenarios.Step) {
		for _, step := range steps {
			needs := step.Op == record.OpOpen || step.Op == record.OpReload || step.Op == record.OpBreak
			if step.Op == record.OpRepeat || needs && !labels[step.Label] {
				require.Fail(t, "a step that can't be played", "%s on line %d", step.Op, step.Line)
			}
			check(step.Steps)
			for _, lane := range step.Lanes {
				check(lane)
			}
		}
	}
	check(steps)
	seen := map[string]bool{}
	for _, name := range s.Plan(1).Checkpoints {
		require.False(t, seen[name], "checkpoint %s is planned twice", name)
		seen[name] = true
	}
}
