//go:build !linux

package fakeserver

import (
	"errors"
	"time"
)

func createdByBoot(int) (float64, error) {
	return 0, errors.New("creation times are read from /proc, which this system does not have")
}

func createdByUptime(int) float64 { return 0 }

func setName(string) {}

// stdinState is unknown here: the order of the notes has to do.
func stdinState() string { return "" }

// nap: what a thread waits in shows on Linux alone.
func nap() { <-time.After(time.Second) }

// awaitConnection is for Linux, where the bench can tell what is waited for.
func awaitConnection() {}

// dropPages is for Linux, where the census counts what it saves.
func dropPages() {}
