package socket

import (
	"golang.org/x/sys/unix"
)

const (
	// Attested says how a peer's pid is learned.
	Attested = "LOCAL_PEERPID"
	// MaxSocketPath is how many bytes the system allows for a socket's path: sun_path is 104 with its NUL (unix(4)).
	MaxSocketPath = 103
)

func pidOf(fd int) (int, error) {
	return unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}

func userOf(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
