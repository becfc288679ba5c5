package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// nameRoom is what NewDir leaves for the name of a socket in the folder, the
// slash included.
const nameRoom = 16

// NewDir makes a folder that only this user may enter (0700) and that is
// short enough for sockets with names of up to 15 bytes: sun_path has room for
// 104 (macOS) or 108 bytes (Linux). It takes the first of $TMPDIR,
// $XDG_RUNTIME_DIR, /tmp and /var/tmp that will do; the caller removes it.
func NewDir() (string, error) {
	var reasons []error
	for _, base := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/tmp", "/var/tmp"} {
		if !filepath.IsAbs(base) {
			continue
		}
		dir, err := newDirIn(base)
		if err == nil {
			return dir, nil
		}
		reasons = append(reasons, err)
	}
	return "", fmt.Errorf("failed to make a folder for sockets: %w", errors.Join(reasons...))
}

func newDirIn(base string) (string, error) {
	// MkdirTemp appends at most ten digits.
	if n := len(base) + len("/lb-") + 10 + nameRoom; n > maxSocketPath {
		return "", fmt.Errorf("socket paths in %s would have up to %d bytes, the system allows %d", base, n, maxSocketPath)
	}
	return os.MkdirTemp(base, "lb-")
}
