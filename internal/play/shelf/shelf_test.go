package shelf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject/hostfile"
)

// TestShelf: what is installed, and whether it is what this program would install now.
func TestShelf(t *testing.T) {
	t.Setenv("LEAKBENCH_HOSTS_DIR", t.TempDir())
	all, err := All()
	require.NoError(t, err)
	state := map[string]string{}
	for _, s := range all {
		row, err := Of(s)
		require.NoError(t, err)
		state[row.Name] = row.State()
	}
	assert.Equal(t, "built in", state["exact"])
	assert.Equal(t, "not installed", state["python-sdk"])
	assert.Contains(t, Names(), "python-sdk")
	assert.NotContains(t, Names(), "exact")

	spec, err := hostfile.Preset("python-sdk", "")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(spec.InstallDir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(spec.InstallDir, "file"), make([]byte, 3<<20), 0o644))
	row, err := Of(spec)
	require.NoError(t, err)
	assert.Equal(t, "stale: install it again", row.State())
	assert.Equal(t, int64(3), Megabytes(spec.InstallDir))
	other, err := hostfile.At("python-sdk", "1.20.0")
	require.NoError(t, err)
	assert.Equal(t, "1.20.0", Params(other).Version)
	assert.Equal(t, spec.Version, Params(other).Pinned)
	assert.NotEqual(t, spec.InstallDir, Params(other).Dir)
}
