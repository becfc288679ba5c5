// Package acceptance_test plays the bench as a whole: hosts of each kind in scenarios, to the verdict.
package acceptance_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	_ "github.com/leakbench/leakbench/fakeserver" // this test binary is also the fake server
	"github.com/leakbench/leakbench/internal/reexec"
	"github.com/leakbench/leakbench/report"
)

// TestMain lets the test binary play every process of a run: the fake server
// (in its init), the keeper and the hosts.
func TestMain(m *testing.M) {
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	if err := os.Chdir(filepath.Join("..", "..")); err != nil { // paths are relative to the root of the module
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	for _, ci := range report.CISystems() { // what the tests start writes what it writes anywhere, also where CI runs them
		_ = os.Unsetenv(ci.Variable)
	}
	runSideBySide()
	code := m.Run()
	_ = os.RemoveAll(program.dir)
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// runSideBySide lets all tests begin at once: what takes a machine waits for its turn (takeTurn).
func runSideBySide() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "10000")
	}
}
