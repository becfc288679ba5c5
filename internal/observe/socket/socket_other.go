//go:build unix && !linux && !darwin

package socket

import "errors"

const (
	// Attested says how a peer's pid is learned: by the certificate.
	Attested = "none"
	// MaxSocketPath is the least of the systems that have sun_path.
	MaxSocketPath = 103
)

// pidOf leaves it to the certificate: there is nothing to ask the kernel.
func pidOf(int) (int, error) { return 0, nil }

func userOf(int) (int, error) { return 0, errors.ErrUnsupported }
