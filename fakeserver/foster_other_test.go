//go:build !linux

package fakeserver_test

func foster([]string) int { return 1 }
