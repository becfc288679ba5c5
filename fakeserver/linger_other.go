//go:build !linux

package fakeserver

import "time"

// nap: what a thread waits in shows on Linux alone.
func nap() { <-time.After(time.Second) }

// awaitConnection is for Linux, where the bench can tell what is waited for.
func awaitConnection() {}
