package refhost

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// idle is a process that ends when its stdin does, or with the test.
func idle(t *testing.T) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "cmd.exe", "/c", "set /p x=")
	cmd.WaitDelay = 10 * time.Second
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	return cmd, func() { _ = stdin.Close() }
}

func jobOf(s *strays, p *os.Process) windows.Handle {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.jobs[p] == nil {
		return 0
	}
	return s.jobs[p].job
}

// TestLateJobs: a server comes into its job once it is connected, and is ended by that.
func TestLateJobs(t *testing.T) {
	t.Parallel()
	s := newStrays(catalogue.JobsLate)
	cmd, _ := idle(t)
	require.NoError(t, s.start(cmd, true))
	assert.Zero(t, jobOf(s, cmd.Process))
	s.connected(cmd)
	require.NotZero(t, jobOf(s, cmd.Process))
	require.NoError(t, windows.TerminateJobObject(jobOf(s, cmd.Process), terminated))
	s.wait(cmd)
	assert.Equal(t, terminated, cmd.ProcessState.ExitCode())
	assert.Empty(t, s.jobs)
}

// TestLateJobOfAStranger: a server that was waited for gets no job any more, as its pid may be a stranger's.
func TestLateJobOfAStranger(t *testing.T) {
	t.Parallel()
	s := newStrays(catalogue.JobsLate)
	cmd, end := idle(t)
	require.NoError(t, s.start(cmd, true))
	end()
	s.wait(cmd)
	stranger, leave := idle(t)
	require.NoError(t, stranger.Start())
	cmd.Process.Pid = stranger.Process.Pid // as if Windows had used it again
	s.connected(cmd)
	assert.Empty(t, s.jobs)
	leave()
	require.NoError(t, ignoreExit(stranger.Wait()))
}

// TestLateJobOfTheDead: where a server can't be assigned any more, nothing of its job is left.
func TestLateJobOfTheDead(t *testing.T) {
	t.Parallel()
	s := newStrays(catalogue.JobsLate)
	cmd, end := idle(t)
	require.NoError(t, s.start(cmd, true))
	end()
	_, err := cmd.Process.Wait()
	require.NoError(t, err)
	s.connected(cmd)
	assert.Zero(t, jobOf(s, cmd.Process))
	s.wait(cmd)
	assert.Empty(t, s.jobs)
}

// ignoreExit leaves out that a process had an exit status.
func ignoreExit(err error) error {
	if _, exited := err.(*exec.ExitError); exited { //nolint:errorlint // Wait returns it as it is
		return nil
	}
	return err
}
