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

// inherit does nothing here: the hosts that need it are those of Windows.
func inherit(*exec.Cmd, []*os.File) func() { return func() {} }

// asks says that there is a signal that asks a process to end.
const asks = true

// signalAll signals the process group that p leads.
func (*strays) signalAll(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }

// endOrphans ends the processes that a sweep has found, and lets go of their connections.
func endOrphans(why string, victims []*connection) {
	var pids []child
	for _, c := range victims {
		pids = append(pids, c.learned...)
	}
	kill(why, pids, sweepGrace)
	inParallel(victims, (*connection).close)
}

// endAll ends every process of a ledger.
func endAll(why string, all []child) { kill(why, all, reapGrace) }

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
