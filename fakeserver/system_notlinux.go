//go:build !linux

package fakeserver

import "time"

func setName(string) {}

// nap: what a thread waits in shows on Linux alone.
func nap() { <-time.After(time.Second) }

// awaitConnection is for Linux, where the bench can tell what is waited for.
func awaitConnection() {}

// dropPages is for Linux, where the census counts what it saves.
func dropPages() {}
