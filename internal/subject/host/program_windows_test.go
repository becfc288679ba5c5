package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
)

// TestDriverPrograms: a script is started by its interpreter, and what is no program is told.
func TestDriverPrograms(t *testing.T) {
	python, err := exec.LookPath("python")
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "python is not in PATH")
		t.Skip("python is not in PATH")
	}
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{"drive.py": "", "Drive.PY": "", "plain": "no program by its name", "folder/no.mjs": "no driver"} {
		if want == "" || name == "plain" {
			require.NoError(t, os.WriteFile(name, nil, 0o600))
		}
		path, err := filepath.Abs(name)
		require.NoError(t, err)
		spec, err := host.Lookup("self", `.\`+name)
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []string{python, path}, spec.Argv)
	}
}

// TestEnvironmentOfPython: the host is the interpreter itself, with the packages of the environment that hosts install has made.
func TestEnvironmentOfPython(t *testing.T) {
	t.Setenv("LEAKBENCH_HOSTS_DIR", t.TempDir())
	spec, err := hostfile.Preset("python-sdk", "")
	require.NoError(t, err)
	python, err := exec.LookPath("python")
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "python is not in PATH")
		t.Skip("python is not in PATH")
	}
	require.NoError(t, exec.CommandContext(t.Context(), python, "-m", "venv", "--without-pip", spec.InstallDir).Run())
	require.NoError(t, spec.Check())
	made, err := spec.Prepare(host.Setting{Run: t.TempDir()})
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), made.Argv[0], "-c", "import os, sys; print(sys.prefix, '__PYVENV_LAUNCHER__' in os.environ, os.getpid())")
	cmd.Env = append(os.Environ(), made.Env...)
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%s False %d\r\n", spec.InstallDir, cmd.Process.Pid), string(out), "no launcher stands in between")
}

// TestUnstartable: what pip makes a program of can't be started, and says so before anything is installed.
func TestUnstartable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"mcpo": true, "fastmcp-list": true, "hermes": false, "typescript-sdk": false, "rmcp": false} {
		spec, err := hostfile.Preset(name, "")
		require.NoError(t, err)
		assert.Equal(t, want, spec.Unstartable() != "", name)
	}
}
