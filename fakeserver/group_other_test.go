//go:build !unix

package fakeserver_test

import (
	"errors"
	"os/exec"
	"syscall"
)

func inOwnGroup(*exec.Cmd) {}

func killGroup(int, syscall.Signal) error { return errors.New("no groups here") }
