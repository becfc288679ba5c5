package socket_test

import (
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/observe/socket/sockettest"
)

func TestRefuse(t *testing.T) {
	t.Parallel()
	listener, path := sockettest.Listen(t)

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

// TestRootMayTakePart in the run of another user, and a third user may not. Whose the run is, is asked on a thread that belongs to
// another user than the rest of this process: setresuid(2) is of one thread alone.
func TestRootMayTakePart(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may become another user")
	}
	listener, path := sockettest.Listen(t)
	for uid, refused := range map[uintptr]string{0: "", 54322: "it belongs to user 54322, and this run to user 54321"} {
		theirs := sockettest.DialAs(t, uid, path)
		defer theirs.Close()
		c, err := listener.AcceptUnix()
		require.NoError(t, err)
		defer c.Close()
		said := make(chan error)
		go func() {
			runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
			const same = ^uintptr(0)
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, 54321, same, same); errno != 0 {
				said <- errno
				return
			}
			said <- socket.Refuse(c)
		}()
		if err := <-said; refused == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, refused)
		}
	}
	assert.Zero(t, os.Getuid())
}
