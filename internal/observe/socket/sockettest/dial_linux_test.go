package sockettest_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/observe/socket/sockettest"
)

// TestDialAs: it is another user to the kernel, and this process stays who it is.
func TestDialAs(t *testing.T) {
	t.Parallel()
	listener, path := sockettest.Listen(t)
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
