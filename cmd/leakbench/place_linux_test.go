package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/record"
)

// TestWhereNoNamespaceCanBeMade: the scenario is not played, and that is not
// clean. The test makes such a system for itself: a user namespace that allows
// no further ones.
func TestWhereNoNamespaceCanBeMade(t *testing.T) {
	t.Parallel()
	if err := keeper.TryPlace(record.PlacePID1); err != nil {
		t.Skip("there is none here: ", err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	out := filepath.Join(t.TempDir(), "runs")
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"`, "sh",
		self, "run", "pid-1", "--progress", "none", "--out", out)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, 10*time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, said.String())
	assert.Equal(t, exitInconclusive, exit.ExitCode(), said.String())
	assert.Contains(t, said.String(), "no such place for the host here")
	assert.NotContains(t, said.String(), "never launched")
}
