package refhost

import (
	"os/exec"
	"syscall"
)

// setOwnGroup gives the server a process group of its own, and has the kernel
// kill it when the thread that starts it, the spawner's, ends.
func setOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
