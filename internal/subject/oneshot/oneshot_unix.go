//go:build unix

package oneshot

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func stopSignal(name string) os.Signal {
	if s := unix.SignalNum(name); s != 0 {
		return s
	}
	return syscall.SIGTERM
}

// interruptGroup is Ctrl-C at a terminal.
func interruptGroup(p *os.Process) error { return syscall.Kill(-p.Pid, syscall.SIGINT) }
