//go:build unix

package oneshot

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/driver"
)

func byItself() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// ask sends a command the signal of that name, SIGTERM where there is none. Ctrl-C at a terminal is SIGINT to its process group.
func ask(p *os.Process, name string) error {
	if name == driver.CtrlC {
		err := syscall.Kill(-p.Pid, syscall.SIGINT)
		if errors.Is(err, syscall.ESRCH) {
			err = os.ErrProcessDone
		}
		return err
	}
	if s := unix.SignalNum(name); s != 0 {
		return p.Signal(s)
	}
	return p.Signal(syscall.SIGTERM)
}
