//go:build unix

package fakeserver

import (
	"os"
	"syscall"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

func certificate(o options) birth.Certificate {
	// getsid and getpgid of oneself do not fail; package syscall has no Getsid.
	sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
	return birth.Certificate{
		Run: o.run, Label: o.label, Session: o.session,
		PID: os.Getpid(), PPID: os.Getppid(), PGID: syscall.Getpgrp(), SID: int(sid),
	}
}
