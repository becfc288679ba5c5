// Package await waits for a child's exit without reaping it.
package await

import (
	"syscall"
	"unsafe"
)

// Exit returns when the child has exited, and leaves it a zombie: nobody else
// gets its pid. It reports false where that can't be waited for.
func Exit(pid int) bool {
	const pPID, wExited, wNoWait = 1, 4, 0x1000000 // P_PID, WEXITED and WNOWAIT of waitid(2)
	var info [16]uint64                            // at least as large as a siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return true
		}
	}
}
