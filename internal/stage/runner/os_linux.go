package runner

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const killSignal = syscall.SIGKILL

// cpuStalled is for how long, since the machine was started, some process has
// waited for a processor (Documentation/accounting/psi.rst). It is not known on
// kernels without it.
func cpuStalled() (time.Duration, bool) {
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return 0, false
	}
	some, _, _ := strings.Cut(string(text), "\n")
	_, total, ok := strings.Cut(some, "total=")
	us, err := strconv.ParseInt(total, 10, 64)
	return time.Duration(us) * time.Microsecond, ok && err == nil
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// reap waits for a child that came home, and that nobody else waits for.
func reap(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }
