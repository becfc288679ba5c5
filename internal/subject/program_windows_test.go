package subject_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject"
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
		spec, err := subject.Lookup("self", `.\`+name)
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
	made, err := spec.Prepare(subject.Setting{Run: t.TempDir()})
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), made.Argv[0], "-c", "import os, sys; print(sys.prefix, '__PYVENV_LAUNCHER__' in os.environ, os.getpid())")
	cmd.Env = append(os.Environ(), made.Env...)
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%s False %d\r\n", spec.InstallDir, cmd.Process.Pid), string(out), "no launcher stands in between")

	// What pip makes a program of is started without that program.
	packages := filepath.Join(spec.InstallDir, "Lib", "site-packages")
	for path, text := range map[string]string{
		"mine.py":                               "import sys\ndef main():\n    print(sys.argv)\n    return 7\n",
		"mine-1.0.0.dist-info/METADATA":         "Metadata-Version: 2.1\nName: mine\nVersion: 1.0.0\n",
		"mine-1.0.0.dist-info/entry_points.txt": "[console_scripts]\nmy-program = mine:main\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(packages, path)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(packages, path), []byte(text), 0o600))
	}
	spec.Argv = []string{"{{install}}/bin/my-program", "--port", "two words"}
	made, err = spec.Prepare(subject.Setting{Run: t.TempDir()})
	require.NoError(t, err)
	cmd = exec.CommandContext(t.Context(), made.Argv[0], made.Argv[1:]...)
	cmd.Env = append(os.Environ(), made.Env...)
	out, err = cmd.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 7, exit.ExitCode())
	assert.Equal(t, "['my-program', '--port', 'two words']\r\n", string(out))
}
