package leaktest

import (
	"io/fs"
	"syscall"
)

// apart has the program hear no Ctrl-C: it ends with the test.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// private says that a folder is this user's. The folder for temporary files is in the profile of the user.
func private(fs.FileInfo) bool { return true }
