package ledger_test

import (
	"os"

	"golang.org/x/sys/windows"
)

func alive(p *os.Process) error {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(p.Pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	if over, _ := windows.WaitForSingleObject(h, 0); over == windows.WAIT_OBJECT_0 {
		return os.ErrProcessDone
	}
	return nil
}
