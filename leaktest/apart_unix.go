//go:build !windows

package leaktest

import (
	"io/fs"
	"os"
	"syscall"
)

// apart has the program hear no Ctrl-C: it ends with the test.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// private says that a folder is this user's, and that nobody else can use it.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm() == 0o700
}
