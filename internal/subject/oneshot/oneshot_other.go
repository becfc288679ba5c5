//go:build !unix

package oneshot

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return nil }

// stopSignal: there is no other way to end a process here.
func stopSignal(string) os.Signal { return os.Kill }

// interruptGroup ends the process: there are no groups to signal.
func interruptGroup(p *os.Process) error { return p.Kill() }
