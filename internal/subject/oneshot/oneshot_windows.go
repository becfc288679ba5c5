package oneshot

import (
	"cmp"
	"context"
	"os"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/console"
)

// byItself gives a command a console of its own, which nobody sees: Ctrl-C there is for it alone.
func byItself() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
}

// ask ends a command where it is to be killed. Else it asks it by CTRL_C, whatever the signal is called elsewhere: there is nothing else.
func ask(p *os.Process, name string) error {
	if name == "SIGKILL" {
		return p.Kill()
	}
	var err error
	done := p.WithHandle(func(h uintptr) {
		if err = console.Interrupt(context.Background(), p.Pid); err == nil {
			return
		}
		if state, _ := windows.WaitForSingleObject(windows.Handle(h), 0); state == windows.WAIT_OBJECT_0 {
			err = os.ErrProcessDone
		}
	})
	return cmp.Or(done, err)
}
