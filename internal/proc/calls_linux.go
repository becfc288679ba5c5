//go:build linux && (amd64 || arm64)

package proc

import "golang.org/x/sys/unix"

// calls are system calls that a process blocks in, with the first argument if that is a descriptor.
var calls = map[int]string{
	unix.SYS_READ: "read(%d)", unix.SYS_READV: "readv(%d)", unix.SYS_PREAD64: "pread64(%d)",
	unix.SYS_WRITE: "write(%d)", unix.SYS_WRITEV: "writev(%d)", unix.SYS_PWRITE64: "pwrite64(%d)",
	unix.SYS_RECVFROM: "recvfrom(%d)", unix.SYS_RECVMSG: "recvmsg(%d)", unix.SYS_SENDTO: "sendto(%d)", unix.SYS_SENDMSG: "sendmsg(%d)",
	unix.SYS_ACCEPT: "accept(%d)", unix.SYS_ACCEPT4: "accept4(%d)", unix.SYS_CONNECT: "connect(%d)",
	unix.SYS_EPOLL_PWAIT: "epoll_pwait(%d)", unix.SYS_EPOLL_PWAIT2: "epoll_pwait2(%d)",
	unix.SYS_FCNTL: "fcntl(%d)", unix.SYS_FLOCK: "flock(%d)", unix.SYS_IOCTL: "ioctl(%d)", unix.SYS_FSYNC: "fsync(%d)",
	unix.SYS_FDATASYNC: "fdatasync(%d)", unix.SYS_IO_URING_ENTER: "io_uring_enter(%d)", unix.SYS_SPLICE: "splice(%d)",
	unix.SYS_SENDFILE: "sendfile(%d)", unix.SYS_CLOSE: "close(%d)",

	unix.SYS_FUTEX: "futex", unix.SYS_PPOLL: "ppoll", unix.SYS_PSELECT6: "pselect6",
	unix.SYS_NANOSLEEP: "nanosleep", unix.SYS_CLOCK_NANOSLEEP: "clock_nanosleep",
	unix.SYS_RESTART_SYSCALL: "restart_syscall", unix.SYS_WAIT4: "wait4", unix.SYS_WAITID: "waitid",
	unix.SYS_RT_SIGSUSPEND: "rt_sigsuspend", unix.SYS_RT_SIGTIMEDWAIT: "rt_sigtimedwait",
	unix.SYS_EXECVE: "execve", unix.SYS_CLONE: "clone", unix.SYS_CLONE3: "clone3", unix.SYS_EXIT: "exit",
	unix.SYS_EXIT_GROUP: "exit_group", unix.SYS_OPENAT: "openat", unix.SYS_SCHED_YIELD: "sched_yield",
	unix.SYS_MSGRCV: "msgrcv", unix.SYS_SEMTIMEDOP: "semtimedop", unix.SYS_MMAP: "mmap", unix.SYS_MUNMAP: "munmap",
	unix.SYS_MADVISE: "madvise", unix.SYS_FUTEX_WAITV: "futex_waitv", unix.SYS_PTRACE: "ptrace",
}
