package sockettest_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/stage/socket"
	"github.com/leakbench/leakbench/internal/stage/socket/sockettest"
)

// TestDialAs: it is another user to the kernel, and this process stays who it is.
func TestDialAs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockettest.OpenDir(t), "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, os.Chmod(path, 0o777)) //nolint:gosec // another user is to reach it
	theirs := sockettest.DialAs(t, 54321, path)
	defer theirs.Close()
	c, err := listener.AcceptUnix()
	require.NoError(t, err)
	defer c.Close()
	uid, err := socket.User(c)
	require.NoError(t, err)
	assert.Equal(t, 54321, uid)
	assert.Zero(t, os.Geteuid())
}
