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

// TestDefaultsAreThoseOfAFile: a run without a file is judged by the same limits.
func TestDefaultsAreThoseOfAFile(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Parse("bare.yaml", []byte("name: bare\ntitle: x\nabout: x\nlaws: [L1]\nservers: {a: }\nsteps: [{open: s, server: a}, {checkpoint: end}]\n"))
	require.NoError(t, err)
	assert.Equal(t, s.Limits, scenarios.Defaults())
}
