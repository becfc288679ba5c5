//go:build unix

package keeper

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drainedInto is a log whose pipe is drained, with the other end of that, its file, and what is closed when it is at its end.
func drainedInto(t *testing.T) (l *stderrLog, w *os.File, path string, drained chan struct{}) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	l, drained = newStderrLog(r, file), make(chan struct{})
	go func() { defer close(drained); l.drain() }()
	return l, w, path, drained
}

// What a host has written when it ends stands in the file when that is told, though another process may still hold its stderr.
func TestLastWords(t *testing.T) {
	t.Parallel()
	l, w, path, drained := drainedInto(t)
	for i := range 300 {
		line := fmt.Sprintln("line", i)
		_, err := w.WriteString(line)
		require.NoError(t, err)
		l.flush()
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(text), line), "line %d", i)
	}
	w.Close()
	<-drained
	l.flush() // of one that is closed, nothing
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 300, strings.Count(string(text), "line"))
}

// TestFloodIsCutOnce: what is flushed counts for the cap, too, and a flood does not keep the flush.
func TestFloodIsCutOnce(t *testing.T) {
	t.Parallel()
	l, w, path, drained := drainedInto(t)
	block := strings.Repeat("x", 1<<16)
	for range maxStderr>>16 + 20 {
		_, err := w.WriteString(block)
		require.NoError(t, err)
		l.flush()
	}
	w.Close()
	<-drained
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, maxStderr, strings.Count(string(text), "x"))
	assert.Equal(t, 1, strings.Count(string(text), "cut off after 8 MiB"))
}
