//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// stops are the signals that end check.
var stops = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// ownGroup has a command end with all that it started.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// endGroup kills what a command has left behind in its group. The group's number is not given to another one while a member lives.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
