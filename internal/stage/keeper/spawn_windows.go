package keeper

import (
	"os"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
)

// stopSignal is the one that ends a process: there is none that stops it.
const stopSignal = syscall.SIGKILL

func (k *process) spawn(string, []string, *os.ProcAttr, record.Place) (*os.Process, error) {
	return nil, errNoFDs
}

func (k *process) reapForEver() {}

// CanLimitFiles says that HostParams.Files works here. It does not: there is
// no prlimit(2).
const CanLimitFiles = false

func limitFiles(int, int) error { return errNoLimit }
