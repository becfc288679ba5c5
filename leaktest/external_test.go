package leaktest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// external is a copy of a module of somebody else, which requires this one as its source is here.
func external(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "external"))))
	sums, err := os.ReadFile(filepath.Join("..", "go.sum")) // what `go get` writes
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	goIn(t, dir, "mod", "edit", "-replace=github.com/leakbench/leakbench="+root)
	return dir
}

// goIn runs the go command there, as somebody does who has what go.mod requires, and returns what it prints.
func goIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return goWith(t, dir, nil, args...)
}

func goWith(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Minute
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestWhatAUserRequires: the go.mod of a user has this module and what the user's client needs, and nothing else.
func TestWhatAUserRequires(t *testing.T) {
	t.Parallel()
	dir := external(t)
	var file struct{ Require []struct{ Path string } }
	require.NoError(t, json.Unmarshal([]byte(goIn(t, dir, "mod", "edit", "-json")), &file))
	var required []string
	for _, r := range file.Require {
		required = append(required, r.Path)
	}
	slices.Sort(required)
	client := slices.DeleteFunc(modulesOf(t, dir), func(path string) bool { return path == ours })
	require.NotEmpty(t, client)
	want := slices.Sorted(slices.Values(append(client, ours)))
	assert.Equal(t, want, modulesOf(t, dir, "-test"), "what leaktest brings into the tests")
	assert.Equal(t, want, required, "testdata/external/go.mod is as go mod tidy writes it")
}

const ours = "github.com/leakbench/leakbench"

// modulesOf are the modules of the packages that the one in dir imports, by whatever way, on any system: what go mod tidy requires.
func modulesOf(t *testing.T, dir string, flags ...string) (modules []string) {
	t.Helper()
	args := append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}, flags...)
	for _, system := range []string{"linux", "darwin", "windows"} {
		modules = append(modules, strings.Fields(goWith(t, dir, []string{"GOOS=" + system, "CGO_ENABLED=0", "GOFLAGS=-mod=mod"}, append(args, ".")...))...)
	}
	slices.Sort(modules)
	return slices.Compact(modules)
}

// play runs some of its tests and returns what they say.
func play(t *testing.T, dir, tests string, env ...string) (passed bool, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "pool.test"), "-test.v", "-test.run="+tests, "-test.parallel=8")
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second
	cmd.Env = append(append(os.Environ(), "LEAKBENCH_BINARY="), env...)
	text, err := cmd.CombinedOutput()
	return err == nil, string(text)
}

// TestModuleOfSomebodyElse runs real clients of mcp-go: the leaking ones fail with the law that they break, the fixed
// ones pass, side by side in one process.
func TestModuleOfSomebodyElse(t *testing.T) {
	t.Parallel()
	dir := external(t)
	goIn(t, dir, "test", "-c", "-o", "pool.test", ".")
	t.Run("leaking and fixed", func(t *testing.T) {
		t.Parallel()
		passed, out := play(t, dir, "^Test(Storm|Cron|Flat|Separate)")
		assert.False(t, passed)
		for test, want := range map[string]string{
			"TestStormLeaking": "L1 init-stranded", "TestSeparateLeaking": "L1 init-stranded", "TestFlatLeaking": "L1 ",
			"TestStormFixed": "", "TestStormOfficial": "", "TestCronFixed": "", "TestSeparateFixed": "", "TestFlat": "",
		} {
			verdict := "--- PASS: " + test + " ("
			if want != "" {
				verdict = "--- FAIL: " + test + " ("
				assert.Contains(t, said(out, test), want)
			}
			assert.Contains(t, out, verdict)
		}
		if t.Failed() {
			t.Log(out)
		}
	})
	t.Run("a child that is no server", func(t *testing.T) {
		t.Parallel()
		passed, out := play(t, dir, "^TestChild$")
		assert.False(t, passed)
		assert.Regexp(t, `leaktest: 1 process is left:\s+pid \d+ \(parent \d+, state S\): cat\s+its stdin is held open by this process`, out)
	})
	t.Run("a child of all tests", func(t *testing.T) {
		t.Parallel()
		passed, out := play(t, dir, "^TestChildOfMain$", "LEAVE=1")
		assert.False(t, passed)
		assert.Contains(t, out, "--- PASS: TestChildOfMain")
		assert.Regexp(t, `leaktest: 1 process is left:\s+pid \d+ .*: sleep 30`, out)
		passed, out = play(t, dir, "^TestChildOfMain$")
		assert.True(t, passed, out)
	})
}

// said is what a test has said: lines after its name, up to the next one's.
func said(out, test string) string {
	var b strings.Builder
	mine := false
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "=== ") {
			mine = strings.HasSuffix(strings.TrimSpace(line), " "+test)
		}
		if mine {
			b.WriteString(line)
		}
	}
	return b.String()
}
