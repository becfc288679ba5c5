package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// limited runs the program with limits of a shell's ulimit, and with its
// standard output and error as the shell is told.
func limited(t *testing.T, script string) (code int, said string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), "LB="+self, "OUT="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), out.String()
}

func TestARunFileThatIsFull(t *testing.T) {
	t.Parallel()
	code, said := limited(t, `ulimit -f 40; exec "$LB" run storm --out "$OUT" --progress none`)
	assert.Equal(t, exitInconclusive, code, said)
	assert.Contains(t, said, "file too large")
	assert.Contains(t, said, "hint: what could be saved is in the run's folder")
	assert.NotContains(t, said, "bug of leakbench")
	assert.NotContains(t, said, "goroutine ")
	code, said = limited(t, `ulimit -f 40; "$LB" run storm --out "$OUT" --progress none >/dev/null 2>&1; ulimit -f unlimited 2>/dev/null; exec "$LB" judge "$OUT"/*`)
	assert.Equal(t, exitInconclusive, code, "what was saved can be judged: %s", said)
}

func TestTooLittleToPlay(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"-n 40", "-v 2000000"} {
		code, said := limited(t, "ulimit "+limit+`; "$LB" run storm --out "$OUT/none"; code=$?; ls "$OUT"; exit $code`)
		assert.Equal(t, exitUsage, code, said)
		assert.Equal(t, 2, strings.Count(said, "\n"), said)
		assert.Contains(t, said, "nothing was played\nhint: ulimit ")
	}
}

func TestNobodyReadsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"2>&1 >/dev/null | true", "2>&1 | true", "2>/dev/null | true"} {
		code, said := limited(t, `"$LB" run shutdown --host naive --out "$OUT" --progress plain `+where+`; exit ${PIPESTATUS[0]}`)
		assert.Equal(t, exitFinding, code, "%s: %s", where, said)
	}
}

// TestQuit: SIGQUIT ends a run as SIGTERM does, and a second one ends the bench
// on the spot. Neither leaves a dump of goroutines.
func TestQuit(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 5} {
		self, err := os.Executable()
		require.NoError(t, err)
		dir := t.TempDir()
		cmd := exec.Command(self, "run", "cancel", "storm", "cron", "crash", "--out", dir, "--progress", "none")
		cmd.Env = os.Environ()
		cmd.WaitDelay = 20 * time.Second
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			runs, _ := filepath.Glob(filepath.Join(dir, "*", "run.jsonl"))
			for _, run := range runs {
				if text, _ := os.ReadFile(run); bytes.Contains(text, []byte(`"born"`)) {
					return true
				}
			}
			return false
		}, 30*time.Second, 5*time.Millisecond)
		for range times {
			_ = cmd.Process.Signal(syscall.SIGQUIT)
		}
		_ = cmd.Wait()
		assert.Equal(t, exitSignal+int(syscall.SIGQUIT), cmd.ProcessState.ExitCode(), out.String())
		assert.NotContains(t, out.String(), "goroutine ")
	}
}
