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
	"golang.org/x/sys/unix"
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

// begun starts a bench and waits until a server of it was born.
func begun(t *testing.T, out *bytes.Buffer, args ...string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir = t.TempDir()
	cmd = exec.Command(self, append(append([]string{"run"}, args...), "--out", dir, "--progress", "none")...)
	cmd.Env = os.Environ()
	cmd.WaitDelay = 20 * time.Second
	cmd.Stdout, cmd.Stderr = out, out
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
	return cmd, dir
}

// TestARunFileThatIsFull: the limit comes while the run runs, as the end of a disk would.
func TestARunFileThatIsFull(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cmd, dir := begun(t, &out, "storm", "storm")
	limit := unix.Rlimit{Cur: 50 << 10, Max: 50 << 10}
	require.NoError(t, unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
	_ = cmd.Wait()
	said := out.String()
	assert.Equal(t, exitInconclusive, cmd.ProcessState.ExitCode(), said)
	assert.Contains(t, said, "file too large")
	assert.Contains(t, said, "hint: what could be saved is in the run's folder")
	assert.NotContains(t, said, "bug of leakbench")
	assert.NotContains(t, said, "goroutine ")
	code, said := limited(t, `exec "$LB" judge `+dir+`/*storm-exact`)
	assert.Equal(t, exitInconclusive, code, "what was saved can be judged: %s", said)
}

// TestTooLittleToPlay: what is missing is told before anything starts, in one line, with what to do.
func TestTooLittleToPlay(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("without the race detector")
	}
	for _, limit := range []string{"-n 40", "-v 2000000", "-f 40", "-d 260000"} {
		code, said := limited(t, "ulimit "+limit+`; "$LB" run storm --out "$OUT/none"; code=$?; ls "$OUT"; exit $code`)
		assert.Equal(t, exitUsage, code, said)
		assert.Equal(t, 2, strings.Count(said, "\n"), said)
		assert.Contains(t, said, "nothing was run\nhint: ulimit ")
		missing, _, _ := strings.Cut(strings.TrimPrefix(said, "leakbench: "), ": nothing was run")
		code, said = limited(t, "ulimit "+limit+`; exec "$LB" doctor --out "$OUT"`)
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, said, missing, "the doctor says the same")
	}
}

func TestNobodyReadsTheAnswer(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"2>&1 >/dev/null | true", "2>&1 | true", "2>/dev/null | true"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			code, said := limited(t, `"$LB" run shutdown --host naive --out "$OUT" --progress plain `+where+`; exit ${PIPESTATUS[0]}`)
			assert.Equal(t, exitFinding, code, said)
		})
	}
}

// TestQuit: SIGQUIT ends a run as SIGTERM does, and a second one ends the bench
// on the spot. Neither leaves a dump of goroutines but in the run's folder.
func TestQuit(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 5} {
		var out bytes.Buffer
		cmd, dir := begun(t, &out, "cancel", "storm", "cron", "crash", "-j", "1")
		for range times {
			_ = cmd.Process.Signal(syscall.SIGQUIT)
		}
		_ = cmd.Wait()
		assert.Equal(t, exitSignal+int(syscall.SIGQUIT), cmd.ProcessState.ExitCode(), out.String())
		assert.NotContains(t, out.String(), "goroutine ")
		if times == 1 {
			logs, _ := filepath.Glob(filepath.Join(dir, "2*", "bench.log"))
			require.Len(t, logs, 1, "of the run that was stopped")
			stacks, err := os.ReadFile(logs[0])
			require.NoError(t, err)
			assert.Contains(t, string(stacks), "host.Run(")
			assert.Contains(t, out.String(), "hint: its stacks are in bench.log of the run's folder")
		}
	}
}
