//go:build unix

package refhost

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

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
