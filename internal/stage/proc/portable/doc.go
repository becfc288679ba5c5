// Package portable reads the process table through gopsutil: on macOS, and on Linux as the second opinion in tests. Package proc does
// not link it on Linux, since gopsutil reads files as soon as it is initialised.
//
// It never asks gopsutil for the children of a process, which runs pgrep for each and so disturbs what is counted.
//
// On macOS, where releases are built without cgo, a row costs five or six runs of ps: gopsutil asks it for the state, the memory,
// the threads, the times and the command line of each process by itself. (Exe, which is not asked for, runs lsof.) Only pid,
// parent, name and start time come from sysctl(3). A census of n processes so starts about 5n others, which are none of the
// host's, and the number of open files is not known at all. Version 3 of gopsutil is what the module is bound to.
package portable
