package refhost

import (
	"os/exec"
	"syscall"
)

// setOwnGroup gives the server a process group of its own. Nothing here kills
// the servers of a host that is killed.
func setOwnGroup(cmd *exec.Cmd, _ bool) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
