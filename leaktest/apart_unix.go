//go:build !windows

package leaktest

import "syscall"

// apart has the program hear no Ctrl-C: it ends with the test.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
