// Package tier says which tests `go test ./...` plays, and which are played by a group of `go run ./tools/check`. It writes down the
// cells that were played, so that none is lost between the two. It is for tests.
package tier

import (
	"flag"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Group is a part of the long tier. tools/check finds the tests of a group by its name in their source: a test that names one here, in
// its own body, is played with that group.
type Group string

// The groups that consist of tests of this module. tools/check has more, which are commands.
const (
	Matrix    Group = "matrix"    // each reference host in each scenario
	Tricks    Group = "tricks"    // hosts that once fooled the bench
	BlackBox  Group = "blackbox"  // gateways and agents in Go, Python and Node
	Published Group = "published" // clients and gateways from package registries
	Servers   Group = "servers"   // servers in Python and Node
	Explore   Group = "explore"   // generated scenarios
	Scripts   Group = "scripts"   // the command line, and what CI systems run
	Slow      Group = "slow"      // tests of single packages that take long
	Browser   Group = "browser"   // pages in Chromium
	Recipes   Group = "recipes"   // the recipes of CONTRIBUTING
	Release   Group = "release"   // what a release publishes, and install.sh
)

// The variables that tools/check sets.
const (
	groupsEnv = "LEAKBENCH_GROUPS" // the groups that are played, separated by commas; "all"; "": the first tier, and what -run asks for
	cellsEnv  = "LEAKBENCH_CELLS"  // a folder for the cells that were played; "": they are not written down
)

// Plays says whether the tests of a group are played: those of the groups that are named, and, where none is, whatever `go test -run`
// asks for.
func Plays(g Group) bool {
	if os.Getenv(groupsEnv) == "" {
		run := flag.Lookup("test.run")
		return run != nil && run.Value.String() != ""
	}
	for name := range strings.SplitSeq(os.Getenv(groupsEnv), ",") {
		if name == "all" || name == string(g) {
			return true
		}
	}
	return false
}

// Only skips a test that is played with a group alone.
func Only(t testing.TB, g Group) {
	t.Helper()
	if !Plays(g) {
		t.Skipf("go run ./tools/check --only %s plays it", g)
	}
}

var cells struct {
	sync.Mutex
	file *os.File
}

// Played writes down that a host was played in a scenario and that the verdict was the one that is wanted: the laws that it breaks, or
// "clean". Call it when that is known.
func Played(t testing.TB, host, scenario, want string) {
	t.Helper()
	dir := os.Getenv(cellsEnv)
	if dir == "" {
		return
	}
	cells.Lock()
	defer cells.Unlock()
	if cells.file == nil {
		file, err := os.CreateTemp(dir, "cells-*.tsv")
		if err != nil {
			t.Fatalf("failed to write the cells down: %v", err)
		}
		cells.file = file
	}
	line := strings.Join([]string{runtime.GOOS, host, scenario, strings.TrimSpace(want)}, "\t") + "\n"
	if _, err := cells.file.WriteString(line); err != nil {
		t.Fatalf("failed to write the cells down: %v", err)
	}
}
