//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// CanAsk says that a signal can ask a process to end.
const CanAsk = true

func nameOf(sig syscall.Signal) string    { return unix.SignalName(sig) }
func numberOf(name string) syscall.Signal { return unix.SignalNum(name) }
