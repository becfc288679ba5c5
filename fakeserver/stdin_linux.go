package fakeserver

import (
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// The events of poll(2).
const (
	pollErr   = 0x8
	pollHup   = 0x10
	pollRDHup = 0x2000 // of a socket whose peer writes no more
)

// stdinState says whether anybody can still write to stdin: "open", "closed",
// or "" where it can't be told. A signal and the end of stdin are caught by
// two goroutines, and on a busy machine in any order: the kernel knows which
// came first, as long as it is asked before anything else is done.
func stdinState() string {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return ""
	}
	fds := [1]struct {
		fd              int32
		events, revents int16
	}{{fd: 0, events: pollRDHup}}
	var atOnce syscall.Timespec
	n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds)), 1, uintptr(unsafe.Pointer(&atOnce)), 0, 0, 0)
	runtime.KeepAlive(&fds)
	switch {
	case errno != 0:
		return ""
	case n > 0 && fds[0].revents&(pollErr|pollHup|pollRDHup) != 0:
		return "closed"
	}
	return "open"
}
