//go:build unix

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func nameOf(sig syscall.Signal) string    { return unix.SignalName(sig) }
func numberOf(name string) syscall.Signal { return unix.SignalNum(name) }
