package proc

import "golang.org/x/sys/unix"

// Kernel is the version of the system's kernel, or "" where it does not say.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
