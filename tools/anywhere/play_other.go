//go:build !linux

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
)

const onlyLinux = "needs Linux, where a process can adopt orphans"

var errOnlyLinux = errors.New("this needs Linux")

func warden([]string) int { return 2 }

func playBelowWarden(context.Context, *place, []string, *os.File) (played, error) {
	return played{}, errOnlyLinux
}

func ownGroup(*exec.Cmd) {}

func allowedProcessors() ([]int, error) { return nil, errOnlyLinux }

func makeRootsFolder(string) error { return errOnlyLinux }

func lock(string) (func(), error) { return nil, errOnlyLinux }
