//go:build !linux

package runner

import (
	"context"
	"syscall"

	gops "github.com/shirou/gopsutil/v3/host"
)

const killSignal = syscall.SIGKILL

// reap has nothing to do: the bench is no subreaper here.
func reap(int) {}

func kernel() string {
	version, err := gops.KernelVersionWithContext(context.Background())
	if err != nil {
		return ""
	}
	return version
}
