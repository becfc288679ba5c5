//go:build unix

package refhost

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ownGroup gives the server a process group of its own, or leaves it in the host's.
func ownGroup(cmd *exec.Cmd, own bool) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: own} }

// asks says that there is a signal that asks a process to end.
const asks = true

// signalAll signals the process group that p leads.
func (*strays) signalAll(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }

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
