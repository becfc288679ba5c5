//go:build !race

package main

// timeScale stretches the time limits of the tests where everything is slower.
const timeScale = 1
