//go:build !unix

package fakeserver

import (
	"errors"
	"os"
	"syscall"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

func certificate(o options) birth.Certificate {
	return birth.Certificate{Run: o.run, Label: o.label, Session: o.session, PID: os.Getpid(), PPID: os.Getppid()}
}

var errNotHere = errors.New("this system has no such thing")

// placed is the same for all: there are no process groups of this kind.
func placed(placement) *syscall.SysProcAttr { return nil }

// become can't replace this process: it starts the other and waits for it.
func become(argv []string) int { return runBelow(argv, sameGroup) }

func connected() (theirs, ours *os.File, err error) { return nil, nil, errNotHere }

func holdFile(string) (*os.File, error) { return nil, errNotHere }

func isHeld(string) bool { return false }

func holdPort(string) (*os.File, error) { return nil, errNotHere }

func inUse(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		_ = p.Release()
	}
	return err == nil
}
