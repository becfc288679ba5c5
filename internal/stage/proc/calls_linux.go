//go:build linux && (amd64 || arm64)

package proc

import (
	"maps"

	"golang.org/x/sys/unix"
)

// callsOnFD are system calls whose first argument is a descriptor, and calls
// others that a process blocks in.
var (
	callsOnFD = merge(oldCallsOnFD, map[int]string{
		unix.SYS_READ: "read", unix.SYS_READV: "readv", unix.SYS_PREAD64: "pread64",
		unix.SYS_WRITE: "write", unix.SYS_WRITEV: "writev", unix.SYS_PWRITE64: "pwrite64",
		unix.SYS_RECVFROM: "recvfrom", unix.SYS_RECVMSG: "recvmsg", unix.SYS_SENDTO: "sendto", unix.SYS_SENDMSG: "sendmsg",
		unix.SYS_ACCEPT: "accept", unix.SYS_ACCEPT4: "accept4", unix.SYS_CONNECT: "connect",
		unix.SYS_EPOLL_PWAIT: "epoll_pwait", unix.SYS_EPOLL_PWAIT2: "epoll_pwait2",
		unix.SYS_FCNTL: "fcntl", unix.SYS_FLOCK: "flock", unix.SYS_IOCTL: "ioctl", unix.SYS_FSYNC: "fsync",
		unix.SYS_FDATASYNC: "fdatasync", unix.SYS_IO_URING_ENTER: "io_uring_enter", unix.SYS_SPLICE: "splice",
		unix.SYS_SENDFILE: "sendfile", unix.SYS_CLOSE: "close",
	})
	calls = merge(oldCalls, map[int]string{
		unix.SYS_FUTEX: "futex", unix.SYS_PPOLL: "ppoll", unix.SYS_PSELECT6: "pselect6",
		unix.SYS_NANOSLEEP: "nanosleep", unix.SYS_CLOCK_NANOSLEEP: "clock_nanosleep",
		unix.SYS_RESTART_SYSCALL: "restart_syscall", unix.SYS_WAIT4: "wait4", unix.SYS_WAITID: "waitid",
		unix.SYS_RT_SIGSUSPEND: "rt_sigsuspend", unix.SYS_RT_SIGTIMEDWAIT: "rt_sigtimedwait",
		unix.SYS_EXECVE: "execve", unix.SYS_CLONE: "clone", unix.SYS_CLONE3: "clone3", unix.SYS_EXIT: "exit",
		unix.SYS_EXIT_GROUP: "exit_group", unix.SYS_OPENAT: "openat", unix.SYS_SCHED_YIELD: "sched_yield",
		unix.SYS_MSGRCV: "msgrcv", unix.SYS_SEMTIMEDOP: "semtimedop", unix.SYS_MMAP: "mmap", unix.SYS_MUNMAP: "munmap",
		unix.SYS_MADVISE: "madvise", unix.SYS_FUTEX_WAITV: "futex_waitv", unix.SYS_PTRACE: "ptrace",
	})
)

func merge(a, b map[int]string) map[int]string {
	maps.Copy(b, a)
	return b
}
