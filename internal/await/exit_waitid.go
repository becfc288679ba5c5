//go:build linux || darwin

// Package await waits for a child's exit without reaping it.
package await

import (
	"runtime"
	"syscall"
	"unsafe"
)

// Exit returns when the child has exited, and leaves it a zombie: nobody else
// gets its pid. It reports false where that can't be waited for.
func Exit(pid int) bool {
	const pPID, wExited = 1, 4 // P_PID and WEXITED of waitid(2), the same on Linux and macOS
	wNoWait := uintptr(0x20)   // WNOWAIT on macOS
	if runtime.GOOS == "linux" {
		wNoWait = 0x1000000
	}
	var info [16]uint64 // at least as large as a siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return true
		}
	}
}
