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

// What a host has written when it ends stands in the file when that is told, though another process may still hold its stderr.
func TestLastWords(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	l := newStderrLog(r, file)
	drained := make(chan struct{})
	go func() { defer close(drained); l.drain() }()
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
	path := filepath.Join(t.TempDir(), "log")
	file, err := os.Create(path)
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	l := newStderrLog(r, file)
	drained := make(chan struct{})
	go func() { defer close(drained); l.drain() }()
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
