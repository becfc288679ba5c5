package runner

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const killSignal = syscall.SIGKILL

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
