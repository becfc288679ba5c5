//go:build !unix

package fakeserver

import (
	"os"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

func certificate(o options) birth.Certificate {
	return birth.Certificate{Run: o.run, Label: o.label, Session: o.session, PID: os.Getpid(), PPID: os.Getppid()}
}
