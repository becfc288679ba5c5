//go:build unix

package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// leastFiles is how many files a bench needs at the least: a connection to each
	// server, and the pipes of the host and its witnesses.
	leastFiles = 64
	// leastSpace is what a Go program with threads takes of addresses, in bytes, and there are several.
	leastSpace = 3 << 30
)

// enough says what this process has too little of to play anything, or nil.
func enough() error {
	var files, space unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil && files.Cur < leastFiles {
		return usage(fmt.Errorf("this process may have %d open files, and a run needs %d: nothing was played", files.Cur, leastFiles), "ulimit -n 1024")
	}
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil && space.Cur < leastSpace {
		return usage(fmt.Errorf("this process may have %d MiB of address space, and a run needs %d: nothing was played", space.Cur>>20, leastSpace>>20), "ulimit -v unlimited")
	}
	return nil
}

// stops are the signals that end a run.
var stops = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// endure has writes fail that would end the process: to a pipe that nobody reads any more, and beyond the size that a
// file may have. It is not ignored, which what the bench starts would inherit.
func endure() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
