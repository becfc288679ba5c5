package portable

import "github.com/shirou/gopsutil/v4/process"

// peer is a process as gopsutil reads it. Version 3 starts ps for most facts where it is built without cgo, and so disturbs what it
// counts (process_darwin_nocgo.go); version 4 asks libproc.
type peer = process.Process
