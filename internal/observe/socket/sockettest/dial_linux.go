package sockettest

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// OpenDir is a folder that every user may enter, as the folder of a run's sockets must not be.
func OpenDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "open-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // that is what it is for
	return dir
}

// Listen listens on a socket that every user may connect to.
func Listen(t testing.TB) (listener *net.UnixListener, path string) {
	t.Helper()
	path = filepath.Join(OpenDir(t), "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	require.NoError(t, os.Chmod(path, 0o777)) //nolint:gosec // another user is to reach it
	return listener, path
}

// DialAs connects as another user. It takes a thread that has the user's rights and ends with the call: setresuid(2) is
// of one thread alone. Where this user may not do so, the test is skipped.
func DialAs(t testing.TB, uid uintptr, path string) net.Conn {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may connect as another user")
	}
	var conn net.Conn
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		const same = ^uintptr(0)
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, uid, same); errno != 0 {
			done <- errno
			return
		}
		var err error
		conn, err = net.Dial("unix", path) //nolint:noctx // it is at once
		done <- err
	}()
	require.NoError(t, <-done)
	return conn
}
