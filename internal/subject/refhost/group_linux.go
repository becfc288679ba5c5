package refhost

import (
	"os/exec"
	"syscall"
)

// setOwnGroup gives the server a process group of its own, and where it is to
// die with the host has the kernel kill it when the thread that starts it, the
// spawner's, ends.
func setOwnGroup(cmd *exec.Cmd, diesWithHost bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if diesWithHost {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
