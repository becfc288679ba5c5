//go:build !linux && !darwin

package ledger

import (
	"errors"
	"net"
)

const (
	attested      = "none"
	maxSocketPath = 103 // the least of the systems that have sun_path
)

// peerPID leaves it to the certificate: there is nothing to ask the kernel.
func peerPID(*net.UnixConn) (int, error) { return 0, nil }

func peerUser(*net.UnixConn) (int, error) { return 0, errors.ErrUnsupported }
