//go:build !windows

package acceptance_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
)

// prepareDriver does what the commands ask for that init prints, without a network.
var prepareDriver = map[string]func(t *testing.T, dir string){
	"python": func(t *testing.T, dir string) { // a user's virtual environment is in the PATH
		t.Helper()
		path := filepath.Join(dir, "mine", "driver.py")
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		interpreter := filepath.Join(installed(t, "python-sdk"), "bin", "python3")
		text = bytes.Replace(text, []byte("/usr/bin/env python3"), []byte(interpreter), 1)
		require.NoError(t, files.Program(path, text))
	},
	"node": func(t *testing.T, dir string) { // the SDK is in the user's project
		t.Helper()
		require.NoError(t, os.Symlink(filepath.Join(installed(t, "typescript-sdk"), "node_modules"), filepath.Join(dir, "node_modules")))
	},
	"go": func(t *testing.T, dir string) {
		t.Helper()
		root, err := filepath.Abs(".")
		require.NoError(t, err)
		sums, err := os.ReadFile("go.sum")
		require.NoError(t, err)
		mod := "module example.com/mine\n\ngo 1.26.0\n\nrequire github.com/leakbench/leakbench v0.0.0\n\nreplace github.com/leakbench/leakbench => " + root + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
		command(t, dir, "go", "build", "-mod=mod", "-o", "mine/driver", "./mine")
	},
	"rust": func(t *testing.T, dir string) {
		t.Helper()
		installed(t, "rmcp") // its packages are there
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		target := filepath.Join(cache, "leakbench", "test-rust")
		command(t, dir, "cargo", "build", "--quiet", "--locked", "--manifest-path", "mine/Cargo.toml", "--target-dir", target)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "mine", "target", "debug"), 0o700))
		require.NoError(t, os.Symlink(filepath.Join(target, "debug", "leakbench-driver"), filepath.Join(dir, "mine", "target", "debug", "leakbench-driver")))
	},
}
