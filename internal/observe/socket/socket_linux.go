package socket

import (
	"errors"
	"syscall"
)

const (
	// Attested says how a peer's pid is learned: "SO_PEERCRED", "LOCAL_PEERPID", or "none" where the server's own word must do.
	Attested = "SO_PEERCRED"
	// MaxSocketPath is how many bytes the system allows for a socket's path: sun_path is 108 with its NUL (unix(7)).
	MaxSocketPath = 107
)

// pidOf is who connected, as the kernel saw it at connect(2).
func pidOf(fd int) (int, error) {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	if cred.Pid == 0 {
		return 0, errors.New("it lives in a pid namespace that can't be seen from here")
	}
	return int(cred.Pid), nil
}

// userOf is the user whose process connected.
func userOf(fd int) (int, error) {
	cred, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
