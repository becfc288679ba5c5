package runner

import (
	"golang.org/x/sys/unix"
)

// reap waits for a child that came home, and that nobody else waits for.
func reap(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }
