package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// TestKitsOfPublishedClients: tools of these are called in a test without a word of the test.
func TestKitsOfPublishedClients(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	for preset, argv := range map[string][]string{
		"python-sdk": {"bin/python", "storm.py", "mcp"}, "python-sdk-v1": {"bin/python", "storm.py", "mcp"},
		"fastmcp": {"bin/python", "storm.py", "fastmcp"}, "typescript-sdk": {"node", "storm.mjs"}, "typescript-sdk-v1": {"node", "storm.mjs"},
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			program, packages := argv[0], installed(t, preset)
			if strings.Contains(program, "/") {
				program = filepath.Join(packages, program)
			}
			dir := kitOf(t, packages)
			defer takeTurn(t, besideAll, chain)()
			cmd := exec.CommandContext(t.Context(), program, append(argv[1:], dir)...)
			cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
			cmd.Env = append(os.Environ(), "LEAKBENCH_BINARY="+theBench(t), "LEAKBENCH_OUT="+dir, "PYTHONPATH="+filepath.Join(dir, "python"))
			var said strings.Builder
			cmd.Stdout = &said
			require.NoError(t, cmd.Run(), "%s", &said)
			assert.Equal(t, "clean\n", said.String())
			tier.Played(t, "the kit with "+preset, "storm", "clean")
		})
	}
}

// kitOf is a folder with the packages for Python and Node, beside the packages of a preset.
func kitOf(t *testing.T, packages string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "kits"))))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "python"), os.DirFS(filepath.Join("integrations", "python"))))
	modules := filepath.Join(packages, "node_modules")
	entries, err := os.ReadDir(modules)
	if err != nil { // a preset for Python
		return dir
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "node_modules"), 0o700))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "node_modules", "leakbench"), os.DirFS(filepath.Join("integrations", "node", "leakbench"))))
	for _, e := range entries {
		require.NoError(t, os.Symlink(filepath.Join(modules, e.Name()), filepath.Join(dir, "node_modules", e.Name())))
	}
	return dir
}
