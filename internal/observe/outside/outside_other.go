//go:build !linux

// Package outside sees what ends processes of a run and is neither the host nor the bench.
package outside

import (
	"errors"
	"syscall"
)

// OOM is not known here.
type OOM struct{}

// Killed is not known here.
func (*OOM) Killed(int) bool { return false }

// Close has nothing to do.
func (*OOM) Close() {}

// Signal is one that a process outside of the run has sent.
type Signal struct {
	Signal   syscall.Signal
	To, From int
	Comm     string
}

// Signals are not seen here.
type Signals struct{}

// WatchSignals can't.
func WatchSignals(func(Signal)) (*Signals, error) {
	return nil, errors.New("nobody can see here who sends signals")
}

// Close has nothing to do.
func (*Signals) Close() {}
