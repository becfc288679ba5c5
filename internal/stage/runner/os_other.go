//go:build !linux

package runner

import (
	"context"
	"syscall"
	"time"

	gops "github.com/shirou/gopsutil/v3/host"
)

const killSignal = syscall.SIGKILL

func cpuStalled() (time.Duration, bool) { return 0, false }

// reap has nothing to do: the bench is no subreaper here.
func reap(int) {}

func kernel() string {
	version, err := gops.KernelVersionWithContext(context.Background())
	if err != nil {
		return ""
	}
	return version
}
