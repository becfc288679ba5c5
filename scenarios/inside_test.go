package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func TestInside(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"storm": "", "cron": "it calls tools", "crash": "it ends the host", "nofile": "it asks for a place or a limit",
		"restart": "it ends the host", "reload": "", "hang": "",
	} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		inside, err := s.Inside(false)
		if want != "" {
			require.ErrorContains(t, err, want, name)
			continue
		}
		require.NoError(t, err, name)
		assert.NotContains(t, inside.Laws, "L2")
		for _, step := range inside.Expand() {
			assert.NotEqual(t, record.OpCall, step.Op)
		}
		assert.NotEqual(t, len(s.Expand()), len(inside.Expand()), "the scenario itself is as it was")
	}
	cron, err := scenarios.Builtin("cron")
	require.NoError(t, err)
	inside, err := cron.Inside(true)
	require.NoError(t, err)
	assert.Len(t, inside.Expand(), len(cron.Expand()))
}

// TestWhatCannotBePlayedInside says why: a fault of a call and a defining call need calls, and a host can't end with its test.
func TestWhatCannotBePlayedInside(t *testing.T) {
	t.Parallel()
	const open, call = "- {open: a, server: one}\n", "- call: a"
	for name, c := range map[string]struct{ head, servers, steps, without, with string }{
		"nothing is in its way":       {"", "one:", open + call, "", ""},
		"a law is left":               {"laws: [L1, L2]", "one:", open + call, "", ""},
		"no law is left":              {"laws: [L2, L5]", "one:", open + call, "it is about the end of the host", "it is about the end of the host"},
		"a place":                     {"host: {place: pid-1}", "one:", open + call, "a place or a limit", "a place or a limit"},
		"a limit":                     {"limits: {nofile: 64}", "one:", open + call, "a place or a limit", "a place or a limit"},
		"it is about a call":          {"", "one:", open + "- {call: a, defining: true}", "it calls tools", ""},
		"a fault is one of calls":     {"", "one: {faults: [{on: call, do: hang}]}", open + call, "it calls tools", ""},
		"a fault is none of calls":    {"", "one: {faults: [{on: eof, do: ignore}]}", open + call, "", ""},
		"jobs are calls":              {"", "one:", open + "- tick: {jobs: [{server: one}]}", "it calls tools", ""},
		"the host ends beside a call": {"", "one:", open + "- parallel: [[{call: a}], [{term: host}]]", "it ends the host", "it ends the host"},
	} {
		s := parse(t, c.head+"\n"+play(c.servers, c.steps))
		for calls, why := range map[bool]string{false: c.without, true: c.with} {
			_, err := s.Inside(calls)
			if why == "" {
				assert.NoError(t, err, name)
			} else {
				assert.ErrorContains(t, err, why, name)
			}
		}
	}
}

// TestWhatIsLeftInside: the laws that can be judged there, and where the host makes no calls all steps but these.
func TestWhatIsLeftInside(t *testing.T) {
	t.Parallel()
	s := parse(t, "laws: [L1, L2, L4]\n"+play("one:", `- {open: a, server: one}
- repeat: 2
  steps: [{call: a}]
- parallel: [[{call: a}, {open: a}], [{repeat: 2, steps: [{close: a}, {open: a}, {call: a}]}]]`))
	before := left(s.Steps)
	inside, err := s.Inside(false)
	require.NoError(t, err)
	assert.Equal(t, []string{"L1", "L4"}, inside.Laws)
	assert.Equal(t, "open a, repeat, parallel(open a | repeat(close a, open a))", left(inside.Steps))
	assert.Equal(t, "open a, parallel(open a | close a, open a, close a, open a)", left(inside.Expand()), "a repeat of nothing is nothing")
	inside, err = s.Inside(true)
	require.NoError(t, err)
	assert.Equal(t, before, left(inside.Steps))
	assert.Equal(t, before, left(s.Steps), "the scenario itself is as it was")
}

// TestDefaultsAreThoseOfAFile: a run without a file is judged by the same limits.
func TestDefaultsAreThoseOfAFile(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("bare.yaml", []byte("name: bare\ntitle: x\nabout: x\nlaws: [L1]\nservers: {a: }\nsteps: [{open: s, server: a}, {checkpoint: end}]\n"))
	require.NoError(t, err)
	assert.Equal(t, s.Limits, scenarios.Defaults())
}
