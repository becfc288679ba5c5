//go:build !linux

package runner

import (
	"context"

	gops "github.com/shirou/gopsutil/v3/host"
)

// reap has nothing to do: the bench is no subreaper here.
func reap(int) {}

func kernel() string {
	version, err := gops.KernelVersionWithContext(context.Background())
	if err != nil {
		return ""
	}
	return version
}
