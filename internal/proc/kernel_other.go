//go:build !linux

package proc

import (
	"context"

	"github.com/shirou/gopsutil/v3/host"
)

// Kernel is the version of the system's kernel, or "" where it does not say.
func Kernel() string {
	version, err := host.KernelVersionWithContext(context.Background())
	if err != nil {
		return ""
	}
	return version
}
