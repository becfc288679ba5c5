//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// stops are the signals that end a run.
var stops = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGXCPU}

// notYet says why a command does not work on this system: all of them do.
func notYet(string) error { return nil }

// endure has writes fail that would end the process: to a pipe that nobody reads any more, and beyond the size that a
// file may have. It is not ignored, which what the bench starts would inherit.
func endure() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE, syscall.SIGXFSZ) }
