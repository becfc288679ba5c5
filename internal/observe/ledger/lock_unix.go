//go:build unix

package ledger

import (
	"os"
	"syscall"
)

// lockDir takes the lock of a folder, unless somebody has it (flock(2): it is gone with its holder).
func lockDir(dir string) (*os.File, bool) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

// isMine says that a file belongs to this user.
func isMine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
