package leakbench_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/hostinit"
)

// mostSkeleton is how many lines of a driver are the user's own.
const mostSkeleton = 30

// TestDriversOfInit plays a run with what `leakbench init --driver` writes, as it is written.
func TestDriversOfInit(t *testing.T) {
	t.Parallel()
	prepare := map[string]func(t *testing.T, dir string){
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
	for _, language := range hostinit.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files, commands, err := hostinit.Driver(language, "mine")
			require.NoError(t, err)
			assert.LessOrEqual(t, bytes.Count(files[0].Content, []byte("\n")), mostSkeleton, files[0].Path)
			for _, f := range files {
				path := filepath.Join(dir, "mine", filepath.FromSlash(f.Path))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				mode := os.FileMode(0o600)
				if f.Program {
					mode = 0o700
				}
				require.NoError(t, os.WriteFile(path, f.Content, mode))
			}
			prepare[language](t, dir)
			last := strings.Fields(commands[len(commands)-1])
			spec, err := host.Lookup("", filepath.Join(dir, last[len(last)-1]))
			require.NoError(t, err)
			judged := playUntil(t, short, cellOf(builtin(t, "reload"), spec), play.Limits{}, breaks(""))
			assert.Equal(t, verdict.Clean, judged.Verdict.Outcome, account(judged))
		})
	}
}

// installed is where a preset's packages are; without them the test is skipped.
func installed(t *testing.T, preset string) string {
	t.Helper()
	spec, err := hostfile.Lookup("", preset)
	require.NoError(t, err)
	needHost(t, spec)
	return spec.InstallDir
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Minute
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
