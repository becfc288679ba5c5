//go:build unix

package leakbench_test

import (
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// lacking are the scenarios that need what this system does not have: none.
var lacking map[string]record.DoubtCode

// here is what a cell of the matrix comes to on this system: what it says. In half-open, a write to the server that is just dying may
// fail: then the host launches the next one for the same open, and whoever ends none drops that one at the reconnect.
func here(scenario, _, laws string) ([]string, record.DoubtCode) {
	if scenario == "half-open" && laws == "L4" {
		return []string{laws, "L1 " + laws}, ""
	}
	return []string{laws}, ""
}

// seesStarvation says that a run knows how long its processes waited for a processor.
const seesStarvation = true

// byRun are the cells of which each run says what it has to come to: none.
var byRun map[string]func(verdict.Judged) string
