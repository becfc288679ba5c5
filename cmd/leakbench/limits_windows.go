package main

import (
	"os"
	"syscall"
)

// stops are the signals that end a run.
var stops = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

func endure() {}
