//go:build unix

package acceptance_test

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
	// reap-all ends each command of a tick as soon as one has ended: the session of another may be over some microseconds before its server
	// reads the end of its stdin. The server is none of a live session then, and the job one that failed.
	if scenario == "check-faults" && laws == "L1 L2 L3" {
		return []string{laws, "L1 L10 L2 L3"}, ""
	}
	return []string{laws}, ""
}

// seesStarvation says that a run knows how long its processes waited for a processor.
const seesStarvation = true

// byRun are the cells of which each run says what it has to come to: none.
var byRun map[string]func(verdict.Judged) string
