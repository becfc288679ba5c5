//go:build !darwin && !windows

package portable

import "github.com/shirou/gopsutil/v3/process"

// peer is a process as gopsutil reads it.
type peer = process.Process
