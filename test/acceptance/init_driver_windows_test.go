package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// goDriverEnv names the driver in Go, which `.ci/wine test` has built.
const goDriverEnv = "LEAKBENCH_GO_DRIVER"

// prepareDriver does what the commands ask for that init prints. The interpreters are in PATH, where init's drivers look for them.
var prepareDriver = map[string]func(t *testing.T, dir string){
	"python": func(t *testing.T, _ string) {
		t.Helper()
		folderOf(t, pythonEnv)
		inPath(t, "python")
	},
	"node": func(t *testing.T, dir string) {
		t.Helper()
		node := folderOf(t, nodeEnv)
		inPath(t, "node")
		require.NoError(t, os.CopyFS(filepath.Join(dir, "mine", "node_modules"), os.DirFS(filepath.Join(node, "client", "node_modules"))))
	},
	"go": func(t *testing.T, dir string) {
		t.Helper()
		program, err := os.ReadFile(folderOf(t, goDriverEnv))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "mine", "driver.exe"), program, 0o700))
	},
	"rust": func(t *testing.T, _ string) {
		t.Helper()
		t.Skip("nothing here builds Rust for Windows")
	},
}

// inPath checks that a program is found there.
func inPath(t *testing.T, program string) {
	t.Helper()
	_, err := exec.LookPath(program)
	require.NoError(t, err)
}
