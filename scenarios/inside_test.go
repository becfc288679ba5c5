package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/scenarios"
)

func TestInside(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"storm": "", "cron": "", "crash": "it ends the host", "nofile": "it asks for a place or a limit",
		"restart": "it ends the host", "reload": "", "hang": "",
	} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		inside, err := s.Inside()
		if want != "" {
			require.ErrorContains(t, err, want, name)
			continue
		}
		require.NoError(t, err, name)
		assert.NotContains(t, inside.Laws, "L2")
		assert.Equal(t, s.Expand(), inside.Expand())
	}
}

// TestWhatCannotBePlayedInside says why: a host can't end with its test, and has no place or limit of its own.
func TestWhatCannotBePlayedInside(t *testing.T) {
	t.Parallel()
	const open, call = "- {open: a, server: one}\n", "- call: a"
	for name, c := range map[string]struct{ head, steps, why string }{
		"nothing is in its way":       {"", open + call, ""},
		"a law is left":               {"laws: [L1, L2]", open + call, ""},
		"no law is left":              {"laws: [L2, L5]", open + call, "it is about the end of the host"},
		"a place":                     {"host: {place: pid-1}", open + call, "a place or a limit"},
		"a limit":                     {"limits: {nofile: 64}", open + call, "a place or a limit"},
		"it waits for the host":       {"", "- {open: a, server: one, patient: true}\n", "own time limit"},
		"jobs are calls":              {"", open + "- tick: {jobs: [{server: one}]}", ""},
		"the host ends beside a call": {"", open + "- parallel: [[{call: a}], [{term: host}]]", "it ends the host"},
	} {
		_, err := parse(t, c.head+"\n"+play("one:", c.steps)).Inside()
		if c.why == "" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, c.why, name)
		}
	}
}

// TestWhatIsLeftInside: all steps, and the laws that can be judged there.
func TestWhatIsLeftInside(t *testing.T) {
	t.Parallel()
	s := parse(t, "laws: [L1, L2, L4]\n"+play("one:", "- {open: a, server: one}\n- {repeat: 2, steps: [{call: a}]}"))
	inside, err := s.Inside()
	require.NoError(t, err)
	assert.Equal(t, []string{"L1", "L4"}, inside.Laws)
	assert.Equal(t, []string{"L1", "L2", "L4"}, s.Laws, "the scenario itself is as it was")
	assert.Equal(t, left(s.Steps), left(inside.Steps))
}

// TestDefaultsAreThoseOfAFile: a run without a file is judged by the same limits.
func TestDefaultsAreThoseOfAFile(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("bare.yaml", []byte("name: bare\ntitle: x\nabout: x\nlaws: [L1]\nservers: {a: }\nsteps: [{open: s, server: a}, {checkpoint: end}]\n"))
	require.NoError(t, err)
	assert.Equal(t, s.Limits, scenarios.Defaults())
}
