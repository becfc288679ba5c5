package leaktest

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// This package imports the standard library alone, which has no LockFileEx.
var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	lockfileFailImmediately = 1
	lockfileExclusiveLock   = 2
	errorLockViolation      = syscall.Errno(33)
)

// lock takes the lock of a file. Without wait, it is errTaken if somebody has it.
func lock(f *os.File, wait bool) error {
	how := uintptr(lockfileExclusiveLock)
	if !wait {
		how |= lockfileFailImmediately
	}
	var at syscall.Overlapped
	locked, _, err := lockFileEx.Call(f.Fd(), how, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case locked != 0:
		return nil
	case errors.Is(err, errorLockViolation):
		return errTaken
	}
	return err
}
