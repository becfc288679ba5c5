package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/doctor"
)

func TestSelftestThatFails(t *testing.T) {
	t.Parallel()
	results := []doctor.Result{
		{Case: doctor.Case{Scenario: "storm", Host: "exact"}, OK: true},
		{Case: doctor.Case{Scenario: "storm", Host: "mutant-l4", Law: "L4", Kind: "zombie"}, Laws: []string{"L1"}, Kinds: []string{"superseded"}},
	}
	var out strings.Builder
	require.ErrorIs(t, (&app{out: &out, format: "text"}).concludeSelftest(results, 0), exit(exitFinding))
	assert.Contains(t, out.String(), "2 runs in 0 s, 1 as expected, 1 not")
	out.Reset()
	require.NoError(t, (&app{out: &out, format: "json"}).concludeSelftest(results[:1], 0))
	var said struct {
		OK     bool
		Matrix map[string]map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(out.String()), &said))
	assert.True(t, said.OK)
	assert.Equal(t, 1, said.Matrix["none"]["none"])
}

// TestSelftestOfNothing: where each case was skipped nothing was proven, and that is no success.
func TestSelftestOfNothing(t *testing.T) {
	t.Parallel()
	results := []doctor.Result{{Case: doctor.Case{Scenario: "storm", Host: "mutant-l5", Law: "L5"}, Skipped: "no handles"}}
	for _, format := range []string{"text", "json"} {
		var out strings.Builder
		said := (*failure)(nil)
		require.ErrorAs(t, (&app{out: &out, format: format}).concludeSelftest(results, 0), &said)
		assert.Equal(t, exitFinding, said.code)
		assert.NotEmpty(t, said.hint)
		assert.NotContains(t, out.String(), `"ok": true`)
		results = append(results, doctor.Result{Case: results[0].Case, OK: true})
		require.NoError(t, (&app{out: &out, format: format}).concludeSelftest(results, 0), "one was not skipped")
		results = results[:1]
	}
}
