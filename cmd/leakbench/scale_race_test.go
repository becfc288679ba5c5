//go:build race

package main

// timeScale stretches the time limits of the tests where everything is slower:
// the race detector makes start-up and /proc scans five to ten times as long.
const timeScale = 5
