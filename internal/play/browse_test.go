package play

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
)

// TestBrowser is not parallel: it sets the environment.
func TestBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the system has a command for it")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("BROWSER", "")
	found := func() string {
		argv, err := Browser()
		require.NoError(t, err)
		return argv[0]
	}
	_, err := Browser()
	require.ErrorContains(t, err, "no browser found: there is none of xdg-open, chromium, chromium-browser")
	for _, name := range []string{"google-chrome", "chromium", "xdg-open"} {
		require.NoError(t, files.Program(filepath.Join(dir, name), []byte("#!/bin/sh\n")))
		assert.Equal(t, filepath.Join(dir, name), found(), "it comes before those that were there")
	}
	t.Setenv("BROWSER", "chromium --new-window")
	argv, err := Browser()
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(dir, "chromium"), "--new-window"}, argv)
	t.Setenv("BROWSER", "none-such")
	_, err = Browser()
	require.ErrorContains(t, err, "none-such")
}
