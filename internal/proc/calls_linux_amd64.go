package proc

import "golang.org/x/sys/unix"

// oldCalls are those that newer architectures have no more.
var oldCalls = map[int]string{
	unix.SYS_EPOLL_WAIT: "epoll_wait(%d)",
	unix.SYS_POLL:       "poll", unix.SYS_SELECT: "select", unix.SYS_PAUSE: "pause",
	unix.SYS_FORK: "fork", unix.SYS_VFORK: "vfork", unix.SYS_OPEN: "open",
}
