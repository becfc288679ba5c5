//go:build unix

package files

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// TestOwnFollowsNoLink: what a link leads to stays as it was, and nothing is left beside it.
func TestOwnFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, "x", "suite.html")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(victim, []byte("old"), 0o600))
	for _, to := range []string{"../victim", victim, "../nowhere"} {
		_ = os.Remove(path)
		require.NoError(t, os.Symlink(to, path))
		require.NoError(t, Own(path, 0o600, Text([]byte("new"))))
		assert.Equal(t, "old", content(t, victim))
		assert.Equal(t, "new", content(t, path))
		info, err := os.Lstat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	assert.NoFileExists(t, filepath.Join(dir, "nowhere"))
	require.Error(t, Own(path, 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return errors.New("no more")
	}))
	require.Panics(t, func() { _ = Own(path, 0o600, func(io.Writer) error { panic("boom") }) })
	assert.Equal(t, "new", content(t, path))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1)

	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	require.ErrorContains(t, Own(path, 0o600, Text(nil)), "it is no file")
}

// TestNamedFollowsALink: the user has named it, so that what it leads to is what is meant.
func TestNamedFollowsALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, link, second := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "second")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.NoError(t, os.Chmod(file, 0o666)) //nolint:gosec // the umask must not change it
	require.NoError(t, os.Symlink("file", link))
	require.NoError(t, os.Symlink(link, second))
	require.NoError(t, Named(second, 0o644, Text([]byte("new"))))
	assert.Equal(t, "new", content(t, file))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSymlink, info.Mode().Type())
	info, err = os.Lstat(file)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o666), info.Mode())

	nowhere, fresh := filepath.Join(dir, "nowhere"), filepath.Join(dir, "fresh")
	require.NoError(t, os.Symlink("fresh", nowhere))
	require.NoError(t, Writable(nowhere))
	assert.NoFileExists(t, fresh)
	require.NoError(t, Named(nowhere, 0o644, Text([]byte("new"))))
	assert.Equal(t, "new", content(t, fresh))

	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink("loop", loop))
	require.ErrorIs(t, Named(loop, 0o644, Text(nil)), syscall.ELOOP)
	require.ErrorIs(t, Named(dir, 0o644, Text(nil)), syscall.EISDIR)
}

// TestDevicesStay: root could replace them.
func TestDevicesStay(t *testing.T) {
	t.Parallel()
	before, err := os.Lstat(os.DevNull)
	require.NoError(t, err)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(os.DevNull, link))
	for _, path := range []string{os.DevNull, link} {
		require.NoError(t, Named(path, 0o644, Text([]byte("x"))))
	}
	after, err := os.Lstat(os.DevNull)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
	assert.NotZero(t, after.Mode()&fs.ModeDevice)
}
