package socket_test

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

func TestRefuse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(sockettest.OpenDir(t), "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, os.Chmod(path, 0o777)) //nolint:gosec // another user is to reach it

	mine, err := net.Dial("unix", path)
	require.NoError(t, err)
	defer mine.Close()
	c, err := listener.AcceptUnix()
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, socket.Refuse(c))
	pid, err := socket.PID(c)
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), pid)

	theirs := sockettest.DialAs(t, 54321, path)
	defer theirs.Close()
	c, err = listener.AcceptUnix()
	require.NoError(t, err)
	defer c.Close()
	require.ErrorContains(t, socket.Refuse(c), "it belongs to user 54321, and this run to user 0")
}
