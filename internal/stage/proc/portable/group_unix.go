//go:build unix

package portable

import "golang.org/x/sys/unix"

func groupAndSession(pid int) (pgid, sid int) {
	pgid, _ = unix.Getpgid(pid)
	sid, _ = unix.Getsid(pid)
	return pgid, sid
}
