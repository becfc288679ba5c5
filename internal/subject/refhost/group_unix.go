//go:build linux || darwin

package refhost

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ownGroup gives the server a process group of its own, or leaves it in the host's.
func ownGroup(cmd *exec.Cmd, own bool) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own} }

// signalGroup signals the process group that p leads.
func signalGroup(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }

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
