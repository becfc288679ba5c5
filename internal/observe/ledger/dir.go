package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/observe/socket"
)

// nameRoom is what NewDir leaves for the name of a socket in the folder, the slash included.
const nameRoom = 32

// NewDir makes a folder that only this user may enter (0700) and that is short enough for sockets with names of up to
// 31 bytes: sun_path has room for 104 (macOS) or 108 bytes (Linux). It takes the first of $TMPDIR, $XDG_RUNTIME_DIR,
// /tmp and /var/tmp that will do; RemoveDir removes it.
func NewDir() (string, error) {
	var reasons []error
	for _, base := range []string{os.TempDir(), os.Getenv("XDG_RUNTIME_DIR"), "/tmp", "/var/tmp"} {
		if !filepath.IsAbs(base) || !utf8.ValidString(base) { // what is not UTF-8 can't be told the keeper
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
	if n := len(base) + len("/lb-") + 10 + nameRoom; n > socket.MaxSocketPath {
		return "", fmt.Errorf("socket paths in %s would have up to %d bytes, the system allows %d", base, n, socket.MaxSocketPath)
	}
	removeStale(base)
	dir, err := os.MkdirTemp(base, dirPrefix)
	if err != nil {
		return "", err
	}
	if lock, locked := lockDir(dir); locked {
		locks.Store(dir, lock)
	}
	return dir, nil
}

const dirPrefix = "lb-"

// locks holds what tells a living bench's folder from a dead one's.
var locks sync.Map // path -> *os.File

// HostDir is the host's part of a folder of NewDir, for sockets of its own. Nobody has made it yet. It ends with the
// folder, so that the keeper removes it where the bench was killed.
func HostDir(dir string) string { return filepath.Join(dir, "t") }

// RemoveDir removes a folder of NewDir.
func RemoveDir(dir string) error {
	if lock, ok := locks.LoadAndDelete(dir); ok {
		defer lock.(*os.File).Close()
	}
	return os.RemoveAll(dir)
}

// staleAfter is longer than a keeper takes to sweep what a dead bench left.
const staleAfter = time.Minute

// removeStale removes what a bench of this user left that was killed right after its
// NewDir: later the keeper does that. Nobody holds the lock of such a folder.
func removeStale(base string) {
	dirs, err := filepath.Glob(filepath.Join(base, dirPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		digits := strings.TrimPrefix(filepath.Base(dir), dirPrefix)
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || strings.Trim(digits, "0123456789") != "" || time.Since(info.ModTime()) < staleAfter || !isMine(info) {
			continue
		}
		if lock, locked := lockDir(dir); locked {
			_ = os.RemoveAll(dir)
			lock.Close()
		}
	}
}

// PathLength is how many bytes the path of the ledger's socket in dir has.
func PathLength(dir string) int { return len(filepath.Join(dir, socketName)) }
