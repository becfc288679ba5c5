package leaktest

import "syscall"

// apart has the program hear no Ctrl-C: it ends with the test.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
