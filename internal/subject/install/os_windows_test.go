package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "leaf" {
		_ = os.WriteFile(os.Args[2], []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
		time.Sleep(time.Hour) // sleep-ok: it is ended
		return
	}
	os.Exit(m.Run())
}

// TestAllEndsWithTheJob: what a package manager has started ends with it, behind a cmd.exe as npm is one.
func TestAllEndsWithTheJob(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "cmd", "/c", self, "leaf", file)
	cmd.WaitDelay = killDelay
	ended := make(chan error, 1)
	go func() { ended <- run(cmd) }()
	var leaf int
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		leaf, err = strconv.Atoi(string(text[:max(0, len(text)-1)]))
		return err == nil
	}, 20*time.Second, 10*time.Millisecond)
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(leaf))
	require.NoError(t, err)
	defer func() { _ = windows.CloseHandle(process) }()
	cancel()
	require.Error(t, <-ended)
	event, err := windows.WaitForSingleObject(process, 10_000)
	require.NoError(t, err)
	assert.EqualValues(t, windows.WAIT_OBJECT_0, event)
}
