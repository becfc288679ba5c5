//go:build linux

package fakeserver_test

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// foster is a parent for a launcher: a subreaper, to which come home whom the
// launcher leaves behind, and that waits for none of them before SIGUSR1.
// It is gone after a while even if its test is.
func foster(argv []string) int {
	const prSetChildSubreaper = 36
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		return 1
	}
	may := make(chan os.Signal, 1)
	signal.Notify(may, syscall.SIGUSR1)
	time.AfterFunc(4*patience, func() { os.Exit(1) })
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Start() != nil {
		return 1
	}
	<-may
	for {
		if _, err := syscall.Wait4(-1, nil, 0, nil); err == syscall.ECHILD {
			return 0
		}
	}
}
