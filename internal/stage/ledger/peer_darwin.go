package ledger

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

const (
	attested      = "LOCAL_PEERPID"
	maxSocketPath = 103 // sun_path is 104 with its NUL (unix(4))
)

// peerPID is who connected, as the kernel saw it.
func peerPID(c *net.UnixConn) (int, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var pid int
	var failed error
	err = raw.Control(func(fd uintptr) {
		pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	})
	return pid, errors.Join(err, failed)
}

func peerUser(*net.UnixConn) (int, error) { return 0, errors.ErrUnsupported }
