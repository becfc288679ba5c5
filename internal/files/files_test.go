//go:build unix

package files

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	patience = 200 * time.Millisecond
	os.Exit(m.Run())
}

func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

func read(t *testing.T, path string) (string, error) {
	t.Helper()
	f, err := Open(path)
	require.NoError(t, err)
	defer f.Close()
	all, err := io.ReadAll(f)
	return string(all), err
}

func TestReadingEnds(t *testing.T) {
	t.Parallel()
	text, err := read(t, pipe(t))
	require.NoError(t, err, "nobody writes to it")
	assert.Empty(t, text)

	silent := pipe(t)
	keep, err := os.OpenFile(silent, os.O_RDWR, 0)
	require.NoError(t, err)
	defer keep.Close()
	_, err = read(t, silent)
	require.EqualError(t, err, silent+": nothing came from it for 200 ms")

	spoken := pipe(t)
	both, err := os.OpenFile(spoken, os.O_RDWR, 0)
	require.NoError(t, err)
	f, err := Open(spoken)
	require.NoError(t, err)
	defer f.Close()
	_, err = both.WriteString("hello")
	require.NoError(t, err)
	require.NoError(t, both.Close())
	all, err := io.ReadAll(f)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(all))

	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, Write(path, []byte("text"), os.O_EXCL))
	text, err = read(t, path)
	require.NoError(t, err)
	assert.Equal(t, "text", text)
	text, err = read(t, os.DevNull)
	require.NoError(t, err)
	assert.Empty(t, text)
}

func TestSmallFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	_, err := Small(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	text, err := Small(path)
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	require.NoError(t, os.Truncate(path, 300<<20))
	for _, no := range []string{path, pipe(t), t.TempDir()} {
		_, err = Small(no)
		require.EqualError(t, err, no+" is no small file")
	}
}

func TestWritingEnds(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, Write(pipe(t), []byte("x"), os.O_TRUNC), syscall.ENXIO, "nobody reads it")
	full := pipe(t)
	keep, err := os.OpenFile(full, os.O_RDWR, 0)
	require.NoError(t, err)
	defer keep.Close()
	require.EqualError(t, Write(full, make([]byte, 1<<20), os.O_TRUNC), full+": nobody read it for 200 ms")
	require.NoError(t, Write(os.DevNull, []byte("x"), os.O_TRUNC))
}

func TestWritable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "a", "fresh")
	require.NoError(t, os.WriteFile(old, []byte("text"), 0o600))
	require.NoError(t, Writable(old))
	text, err := os.ReadFile(old)
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	require.NoError(t, Writable(fresh))
	assert.NoFileExists(t, fresh)
	assert.DirExists(t, filepath.Dir(fresh))
	require.Error(t, Writable(dir))
	require.Error(t, Writable(filepath.Join(old, "below")))
}
