// Package reexectest has test binaries play every part in a run, and looks at what they leave. It is for tests.
package reexectest

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/goleak"

	_ "github.com/leakbench/leakbench/fakeserver" // the test binary is also the fake server
	"github.com/leakbench/leakbench/internal/reexec"
)

// Main is the TestMain of a package whose test binary plays every part. It fails where a goroutine is left.
func Main(m *testing.M) { WaitingMain(m, 1) }

// WaitingMain is Main for a package whose tests wait, as MostlyWaits says.
func WaitingMain(m *testing.M, perProcessor int) {
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	MostlyWaits(perProcessor)
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// MostlyWaits lets so many tests run at once for each processor, unless the command line says how many: for a package whose tests wait
// for processes rather than for a processor. The process must be one that runs tests, as its command line is read for that.
func MostlyWaits(perProcessor int) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", strconv.Itoa(perProcessor*min(runtime.GOMAXPROCS(0), runtime.NumCPU())))
	}
}

// NothingRuns checks that no process has the run's token in its command line, the controls' included.
func NothingRuns(t testing.TB, id string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return // the Linux run of the suite checks it
	}
	for _, e := range entries {
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		assert.NotContains(t, strings.ReplaceAll(string(line), "\x00", " "), id)
	}
}
