//go:build !linux

package fakeserver

// stdinState is unknown here: the order of the notes has to do.
func stdinState() string { return "" }
