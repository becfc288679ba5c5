//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package leaktest

import (
	"errors"
	"os"
	"syscall"
)

// lock takes the lock of a file. Without wait, it is errTaken if somebody has it.
func lock(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errTaken
		default:
			return err
		}
	}
}
