package leaktest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThisModuleIsItsOwnSource: here nothing requires a version.
func TestThisModuleIsItsOwnSource(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	s, err := required(givenDir)
	require.NoError(t, err)
	assert.Equal(t, source{dir: root}, s)
}

// TestWithoutAModule: a test binary that is run elsewhere can't know what to build.
func TestWithoutAModule(t *testing.T) {
	t.Parallel()
	_, err := built(t.TempDir())
	require.ErrorContains(t, err, "go list -m")
}

// TestNamed: tests change their folder, and a link has another name than the program has for itself.
func TestNamed(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), filepath.Base(self))
	if os.Symlink(self, link) != nil {
		link = self // Windows lets few do that
	}
	here, err := filepath.Rel(givenDir, link)
	if err != nil {
		here = link // another drive
	}
	want, err := filepath.EvalSymlinks(self)
	require.NoError(t, err)
	for _, given := range []string{link, here} {
		path, err := named(given)
		require.NoError(t, err)
		assert.Equal(t, want, path)
	}
	_, err = named(link + "-missing")
	require.Error(t, err)
}
