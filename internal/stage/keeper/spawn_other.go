//go:build !linux && unix

package keeper

import (
	"os"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
)

func (k *process) spawn(path string, argv []string, attr *os.ProcAttr, _ record.Place) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{Setpgid: true}
	return os.StartProcess(path, argv, attr)
}

// CanLimitFiles says that HostParams.Files works here. It does not: there is
// no prlimit(2).
const CanLimitFiles = false

func limitFiles(int, int) error { return errNoLimit }
