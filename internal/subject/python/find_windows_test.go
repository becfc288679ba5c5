package python

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
)

// TestMain plays what the copies of this program are called: python.exe is the stub of the Microsoft Store, python3.exe a Python.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(strings.ToLower(filepath.Base(os.Args[0])), ".exe") {
	case "python":
		os.Exit(9009)
	case "python3":
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFindPassesOverAStub(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	assert.Empty(t, find())
	for _, name := range []string{"python.exe", "python3.exe"} {
		copyOfThis(t, filepath.Join(dir, name))
	}
	assert.Equal(t, "python3.exe", strings.ToLower(filepath.Base(find())))
}

func copyOfThis(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, files.Program(to, text))
}
