//go:build !linux

package runner

import (
	"context"
	"syscall"

	gops "github.com/shirou/gopsutil/v3/host"

	"github.com/leakbench/leakbench/internal/record"
)

const killSignal = syscall.SIGKILL

// benchLoad is not known here.
func benchLoad() record.Load { return record.Load{} }

// reap has nothing to do: the bench is no subreaper here.
func reap(int) {}

func kernel() string {
	version, err := gops.KernelVersionWithContext(context.Background())
	if err != nil {
		return ""
	}
	return version
}
