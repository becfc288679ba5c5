package winjob_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/winjob"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "child" {
		time.Sleep(time.Hour) // sleep-ok: it is ended
		return
	}
	os.Exit(m.Run())
}

// TestStart: what was started runs, and ends with the last handle of its job.
func TestStart(t *testing.T) {
	t.Parallel()
	job, err := winjob.New(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "child")
	cmd.WaitDelay = time.Second
	require.NoError(t, winjob.Start(cmd, job))
	process, err := winjob.Open(cmd.Process.Pid)
	require.NoError(t, err)
	require.NoError(t, windows.CloseHandle(process))
	require.NoError(t, windows.CloseHandle(job))
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		require.NoError(t, cmd.Process.Kill())
		assert.Fail(t, "it has outlived its job")
	}
}

// TestWithoutLimits: a job that lets its processes live does so.
func TestWithoutLimits(t *testing.T) {
	t.Parallel()
	job, err := winjob.New(0)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "cmd", "/c", "exit 3")
	cmd.WaitDelay = time.Second
	require.NoError(t, winjob.Start(cmd, job))
	require.NoError(t, windows.CloseHandle(job))
	require.Error(t, cmd.Wait())
	assert.Equal(t, 3, cmd.ProcessState.ExitCode(), "it ran to its end")
}
