package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// TestRefused has what a scenario may not say, and a like one that it may.
func TestRefused(t *testing.T) {
	t.Parallel()
	const step, sleep = "- {open: a, server: one}", "tool: sleep, args: {ms: 9000}, "
	many := func(n int, form string) (all string) {
		for i := range n {
			all += fmt.Sprintf(form, i)
		}
		return all
	}
	head := func(extra string) string { return extra + "\n" + play("one:", step) }
	job := func(keys string) string { return play("one:", "- tick: {jobs: [{server: one, "+keys+"}]}") }
	servers := func(n int) string { return play("one:\n"+many(n-1, "s%d: {optional: true}\n"), step) }
	faults := func(n int) string { // each at a launch of its own
		return play("one:\n  faults:\n"+many(n, "    - {on: eof, do: ignore, launch: 1%02d}\n"), step)
	}
	for name, c := range map[string]struct{ bad, says, good string }{
		"a tag twice":          {head("tags: [x, x]"), "x appears twice", head("tags: [x, y]")},
		"a law twice":          {head("laws: [L1, L1]"), "L1 appears twice", head("laws: [L1, L3]")},
		"a tag of no name":     {head("tags: [X, Y]"), `1:11: "Y" is not a valid name`, head("tags: [x]")},
		"no law":               {head("laws: [L97, L98]"), "1:13: \"L98\" is not a law", head("laws: [L1]")},
		"too many servers":     {servers(65), "there are 65 servers; the limit is 64", servers(64)},
		"too many faults":      {faults(65), "there are 65 faults; the limit is 64", faults(64)},
		"a signal, no cancel":  {job("signal: SIGKILL"), "signal says how a job is cancelled", job(sleep + "cancel: true, signal: SIGKILL")},
		"a probe with a tool":  {job("tool: echo, probe: true"), "a probe takes no tool and is not cut off", job("probe: true")},
		"a probe with args":    {job("args: {x: 1}, probe: true"), "a probe takes no tool and is not cut off", job("args: {x: 1}")},
		"a probe with a limit": {job("timeout: 1s, probe: true"), "a probe takes no tool and is not cut off", job(sleep + "timeout: 1s")},
		"a probe cut off":      {job("cancel: true, probe: true"), "a probe takes no tool and is not cut off", job(sleep + "cancel: true")},
	} {
		_, err := scenarios.Parse("x.yaml", []byte(c.bad))
		require.ErrorContains(t, err, c.says, name)
		assert.NotContains(t, err.Error(), ":  appears twice", name)
		_, err = scenarios.Parse("x.yaml", []byte(c.good))
		require.NoError(t, err, name)
	}
	s, err := scenarios.Parse("x.yaml", []byte(play("one:", "- {restart: host, after: term}\n"+step)))
	require.NoError(t, err)
	assert.Empty(t, s.Steps[0].After, "SIGTERM is what happens where nothing is said")
}

// TestWhatAJobDoes in a word.
func TestWhatAJobDoes(t *testing.T) {
	t.Parallel()
	assert.Equal(t, record.DetailProbe, scenarios.Job{Probe: true}.What())
	assert.Equal(t, "echo", scenarios.Job{}.What())
	assert.Equal(t, "sleep", scenarios.Job{Tool: "sleep"}.What())
}
