//go:build unix

package leakbench_test

import "github.com/leakbench/leakbench/internal/record"

// lacking are the scenarios that need what this system does not have: none.
var lacking map[string]record.DoubtCode

// here is what a cell of the matrix comes to on this system: what it says.
func here(_, _, laws string) ([]string, record.DoubtCode) { return []string{laws}, "" }

// seesStarvation says that a run knows how long its processes waited for a processor.
const seesStarvation = true
