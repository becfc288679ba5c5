//go:build race

package main

// raced: the race detector reserves address space, and writes lines of its own.
const raced = true
