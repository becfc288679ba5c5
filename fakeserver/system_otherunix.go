//go:build !linux && unix

package fakeserver

import "errors"

func createdByBoot(int) (float64, error) {
	return 0, errors.New("creation times are read from /proc, which this system does not have")
}

func createdByUptime(int) float64 { return 0 }

const parentDeathSignal = 0

// stdinState is unknown here: the order of the notes has to do.
func stdinState() string { return "" }
