package socket_test

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/socket"
)

func TestPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := socket.Listen(path)
	require.NoError(t, err)

	mine, err := socket.Dial(path)
	require.NoError(t, err)
	_, err = mine.Write([]byte("said before anybody listened"))
	require.NoError(t, err)
	c, err := l.Accept()
	require.NoError(t, err)
	pid, err := socket.PID(c)
	require.NoError(t, err)
	assert.Equal(t, os.Getpid(), pid)
	require.NoError(t, socket.Refuse(c))

	require.NoError(t, mine.Close())
	said, err := io.ReadAll(c)
	require.NoError(t, err)
	assert.Equal(t, "said before anybody listened", string(said), "what was written is read after the end")
	require.NoError(t, c.Close())

	waits := make(chan error)
	go func() { _, err := l.Accept(); waits <- err }()
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-waits, net.ErrClosed)
	require.ErrorIs(t, l.Close(), net.ErrClosed)
	_, err = socket.Dial(path)
	require.Error(t, err, "nobody listens")
}
