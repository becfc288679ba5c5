//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Asks is the signal that asks a process to end.
const Asks = "SIGTERM"

func nameOf(sig syscall.Signal) string    { return unix.SignalName(sig) }
func numberOf(name string) syscall.Signal { return unix.SignalNum(name) }
