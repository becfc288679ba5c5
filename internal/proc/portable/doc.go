// Package portable reads the process table where package proc does not do so itself: on macOS, and on Linux as the second opinion in
// tests. Package proc does not link it on Linux, since gopsutil reads files as soon as it is initialised.
//
// On macOS one sysctl(3) gives all pids, parents, names and start times, and libproc the rest, through gopsutil/v4 and without cgo: a
// census starts no process. Whether a process runs or sleeps is not in there, so rows leave it out. Only the evidence on a survivor asks ps
// for it. The files for macOS are compiled and vetted; nothing of leakbench has been run on a Mac yet, other than by its workflow.
package portable
