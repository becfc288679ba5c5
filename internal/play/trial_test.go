package play

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// TestTry: a host that works, and one that launches nothing.
func TestTry(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	exact, err := subject.Lookup(self, "exact")
	require.NoError(t, err)
	seen, err := TryHost(t.Context(), Bench{Self: self}, exact)
	require.NoError(t, err)
	assert.Empty(t, seen.Failed)
	require.Len(t, seen.Lines, 3, seen.Lines)
	assert.Equal(t, "It launched 2 servers, and shook hands with 2 of them.", seen.Lines[1])

	idle, err := subject.FromCommand([]string{"sleep", "60", "{{server}}"})
	require.NoError(t, err)
	idle.Start = record.Duration(1)
	seen, err = TryHost(t.Context(), Bench{Self: self}, idle)
	require.NoError(t, err)
	assert.NotEmpty(t, seen.Failed)
}

// TestSharing: what was seen of who has a server is held against what the file says.
func TestSharing(t *testing.T) {
	t.Parallel()
	for servers, looks := range map[int]record.Sharing{1: record.Shared, 2: record.PerSession, 5: record.PerRequest} {
		for _, said := range []record.Sharing{record.Shared, record.PerSession, record.PerRequest} {
			line := sharing(subject.Spec{HTTP: &subject.HTTP{Servers: said}}, servers)
			if looks == said {
				assert.Contains(t, line, "as you said")
			} else {
				assert.Contains(t, line, "servers: "+string(looks)+", and the file says "+string(said))
			}
		}
	}
	assert.Empty(t, sharing(subject.Spec{}, 1))
}
