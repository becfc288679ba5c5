package ledger

import (
	"errors"
	"net"
	"syscall"
)

const (
	attested      = "SO_PEERCRED"
	maxSocketPath = 107 // sun_path is 108 with its NUL (unix(7))
)

// peerPID is who connected, as the kernel saw it at connect(2).
func peerPID(c *net.UnixConn) (int, error) {
	cred, err := credentials(c)
	if err != nil {
		return 0, err
	}
	if cred.Pid == 0 {
		return 0, errors.New("it lives in a pid namespace that can't be seen from here")
	}
	return int(cred.Pid), nil
}

// peerUser is the user whose process connected.
func peerUser(c *net.UnixConn) (int, error) {
	cred, err := credentials(c)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

func credentials(c *net.UnixConn) (*syscall.Ucred, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		cred, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return cred, errors.Join(err, failed)
}
