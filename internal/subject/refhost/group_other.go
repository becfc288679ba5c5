//go:build !linux && !darwin

package refhost

import (
	"os"
	"os/exec"
	"syscall"
)

func setOwnGroup(*exec.Cmd, bool) {}

// awaitExit returns when the process has exited. A handle keeps it from being
// mistaken for another one.
func awaitExit(p *os.Process) { _, _ = p.Wait() }

// signalGroup signals p alone: there are no process groups here. Of the
// signals only SIGKILL exists.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if sig == syscall.SIGKILL {
		_ = p.Kill()
	}
}

func leaveInGroup(*exec.Cmd) {}

func hangUpOwnGroup() {}

// killNumber does nothing: there are no numbers to be mistaken about here.
func killNumber(int) {}
