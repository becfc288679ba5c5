package ledger

import (
	"errors"

	"golang.org/x/sys/unix"
)

const (
	// Attested says how a peer's pid is learned.
	Attested = "LOCAL_PEERPID"
	// MaxSocketPath is how many bytes the system allows for a socket's path: sun_path is 104 with its NUL (unix(4)).
	MaxSocketPath = 103
)

func peerPID(socket int) (int, error) {
	return unix.GetsockoptInt(socket, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
}

func peerUser(int) (int, error) { return 0, errors.ErrUnsupported }
