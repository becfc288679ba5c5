package proc

import (
	"strconv"
	"strings"
	"syscall"
)

// maxSignal is the highest number of a signal on any system here (SIGRTMAX).
const maxSignal = 64

// SignalName returns "SIGKILL", or "SIG40" for a signal without a name.
func SignalName(sig syscall.Signal) string {
	if name := nameOf(sig); name != "" {
		return name
	}
	return "SIG" + strconv.Itoa(int(sig))
}

// ParseSignal reads "SIGTERM", "TERM" or "15", in either case.
func ParseSignal(name string) (syscall.Signal, bool) {
	short := strings.TrimPrefix(strings.ToUpper(name), "SIG")
	if sig := numberOf("SIG" + short); sig != 0 {
		return sig, true
	}
	n, err := strconv.Atoi(short)
	if err != nil || n < 1 || n > maxSignal {
		return 0, false
	}
	return syscall.Signal(n), true
}
