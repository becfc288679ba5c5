package keeper_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/keeper"
)

// TestTheHostsOpenFilesAreLimited asks the kernel: the host has the limit, the
// keeper does not.
func TestTheHostsOpenFilesAreLimited(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "lbk")
	require.NoError(t, err)
	k, err := keeper.Start(context.Background(), keeper.Params{Self: self, Dir: dir, Log: filepath.Join(t.TempDir(), "log")})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, k.Close()) })
	h, err := k.StartHost(context.Background(), keeper.HostParams{Argv: []string{self, "tree"}, Files: 48})
	require.NoError(t, err)
	t.Cleanup(func() { h.Stdin.Close(); h.Stdout.Close() })
	assert.Equal(t, []string{"48", "48"}, openFiles(t, h.Process.PID))
	assert.NotContains(t, openFiles(t, k.Hello.PID), "48")
}

func openFiles(t *testing.T, pid int) []string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	require.NoError(t, err)
	found := regexp.MustCompile(`Max open files +(\S+) +(\S+)`).FindStringSubmatch(string(text))
	require.Len(t, found, 3)
	return found[1:]
}
