//go:build !linux && !darwin

package refhost

import (
	"os"
	"os/exec"
	"syscall"
)

func ownGroup(*exec.Cmd, bool) {}

// signalGroup signals p alone: there are no process groups here. Of the signals only SIGKILL exists.
func signalGroup(p *os.Process, sig syscall.Signal) {
	if sig == syscall.SIGKILL {
		_ = p.Kill()
	}
}

func hangUpOwnGroup() {}

// killNumber does nothing: there are no numbers to be mistaken about here.
func killNumber(int) {}
