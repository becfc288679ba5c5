package leaktest_test

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

// external builds the tests of a module of somebody else, which only requires this one.
func external(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "external"))))
	sums, err := os.ReadFile(filepath.Join("..", "go.sum")) // what `go get` writes
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600))
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	program := filepath.Join(dir, "pool.test")
	for _, args := range [][]string{
		{"mod", "edit", "-replace=github.com/leakbench/leakbench=" + root},
		{"test", "-c", "-mod=mod", "-o", program, "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.WaitDelay = dir, time.Minute
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return program
}

// play runs some of its tests and returns what they say.
func play(t *testing.T, program, tests string, env ...string) (passed bool, out string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "-test.v", "-test.run="+tests, "-test.parallel=8")
	cmd.Dir, cmd.WaitDelay = t.TempDir(), 10*time.Second
	cmd.Env = append(os.Environ(), env...)
	text, err := cmd.CombinedOutput()
	return err == nil, string(text)
}

// TestModuleOfSomebodyElse runs real clients of mcp-go: the leaking ones fail with the law that they break, the fixed
// ones pass, side by side in one process.
func TestModuleOfSomebodyElse(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	program := external(t)
	t.Run("leaking and fixed", func(t *testing.T) {
		t.Parallel()
		passed, out := play(t, program, "^Test(Storm|Cron|Flat|Separate)")
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
		passed, out := play(t, program, "^TestChild$")
		assert.False(t, passed)
		assert.Regexp(t, `leaktest: 1 process is left:\s+pid \d+ \(parent \d+, state S\): cat\s+its stdin is held open by this process`, out)
	})
	t.Run("a child of all tests", func(t *testing.T) {
		t.Parallel()
		passed, out := play(t, program, "^TestChildOfMain$", "LEAVE=1")
		assert.False(t, passed)
		assert.Contains(t, out, "--- PASS: TestChildOfMain")
		assert.Regexp(t, `leaktest: 1 process is left:\s+pid \d+ .*: sleep 30`, out)
		passed, out = play(t, program, "^TestChildOfMain$")
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
