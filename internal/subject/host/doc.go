// Package host is the bench's side of a host: which ones are built in, how a
// command line becomes one, and how to talk to a host's driver. It starts
// nothing itself: the keeper does, and hands the pipes over.
package host
