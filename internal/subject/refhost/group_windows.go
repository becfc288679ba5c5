package refhost

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// asks says that there is a signal that asks a process to end.
const asks = false

func ownGroup(*exec.Cmd, bool) {}

// inherit has a server inherit copies of the write ends. The function that it returns closes the host's own copies.
func inherit(cmd *exec.Cmd, stdins []*os.File) func() {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	self, copies := windows.CurrentProcess(), &cmd.SysProcAttr.AdditionalInheritedHandles
	for _, f := range stdins {
		var to windows.Handle
		if windows.DuplicateHandle(self, windows.Handle(f.Fd()), self, &to, 0, true, windows.DUPLICATE_SAME_ACCESS) == nil {
			*copies = append(*copies, syscall.Handle(to))
		}
	}
	return func() {
		for _, h := range *copies {
			_ = windows.CloseHandle(windows.Handle(h))
		}
	}
}

func hangUpOwnGroup() {}

// killNumber does nothing: there are no numbers to be mistaken about here.
func killNumber(int) {}
