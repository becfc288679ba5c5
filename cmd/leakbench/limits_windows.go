package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// works are the commands that were seen to work on Windows. What is not among them is refused before it starts anything.
var works = strings.Fields("run gate replay compare known merge judge report open list explain validate schema doctor version fakeserver " +
	"completion help selftest score hosts explore init bisect lab server")

// notYet says why a command does not work on this system.
func notYet(path string) error {
	words := strings.Fields(path)
	if len(words) < 2 || strings.HasPrefix(words[1], "__complete") {
		return nil
	}
	if slices.Contains(works, words[1]) {
		return nil
	}
	return usage(fmt.Errorf("%s does not work on Windows yet", path), "run it on Linux, or in WSL")
}

// stops are the signals that end a run.
var stops = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

func endure() {}
