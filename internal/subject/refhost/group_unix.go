//go:build linux || darwin

package refhost

import (
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"
)

// awaitExit returns when the process has exited, and leaves it a zombie:
// nobody else gets its pid.
func awaitExit(p *os.Process) {
	const pPID = 1           // P_PID of waitid(2), the same on Linux and macOS
	var info [16]uint64      // at least as large as a siginfo_t
	const wExited = 4        // WEXITED
	wNoWait := uintptr(0x20) // WNOWAIT on macOS
	if runtime.GOOS == "linux" {
		wNoWait = 0x1000000
	}
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(p.Pid), uintptr(unsafe.Pointer(&info)), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// signalGroup signals the process group that p leads.
func signalGroup(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }

// leaveInGroup takes back that a server gets a process group of its own.
func leaveInGroup(cmd *exec.Cmd) { cmd.SysProcAttr.Setpgid = false }

// hangUpOwnGroup signals everybody in the host's group, but survives it.
func hangUpOwnGroup() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	_ = syscall.Kill(0, syscall.SIGHUP)
}

// killNumber ends whoever has this pid now, and the group of this number.
func killNumber(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}
