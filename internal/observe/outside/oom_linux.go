// Package outside sees what ends processes of a run and is neither the host nor the bench.
package outside

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// OOM counts what the kernel has killed for want of memory: of the whole machine, and of any cgroup with a limit. Where its log may
// be read, it also has the names. The zero value is ready to use, and takes what was counted at its first question for old.
type OOM struct {
	mu    sync.Mutex
	known bool
	last  int64
	log   int          // the descriptor of what the kernel has said since the first question, or none: 0
	named map[int]bool // processes that it says to have killed
}

// Killed says that the kernel may have killed a process for want of memory: it says so, or it has killed one that it does not
// name since it was last asked.
func (o *OOM) Killed(pid int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now, known := oomKills()
	more := int64(0)
	if !o.known {
		o.log, o.named = kernelLog(), map[int]bool{}
	} else if known {
		more = now - o.last
	}
	o.known, o.last = known, now
	before := len(o.named)
	o.readNames() // each time: the kernel counts first, and writes a moment later, which is no name of the next one
	return more > int64(len(o.named)-before) || o.named[pid]
}

// Close gives up the kernel's log.
func (o *OOM) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log > 0 {
		_ = unix.Close(o.log)
		o.log = 0
	}
}

// kernelLog is the kernel's log from here on (Documentation/ABI/testing/dev-kmsg). It has pids as the first namespace
// has them, whose inode is PROC_PID_INIT_INO of include/linux/proc_ns.h.
func kernelLog() (fd int) {
	if ns, err := os.Readlink("/proc/self/ns/pid"); err != nil || ns != "pid:[4026531836]" {
		return 0
	}
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	if _, err := unix.Seek(fd, 0, unix.SEEK_END); err != nil {
		_ = unix.Close(fd)
		return 0
	}
	return fd
}

// killedLine is of __oom_kill_process in mm/oom_kill.c. A record begins with numbers and a semicolon: no text of a process's own
// can be taken for it, as what a program writes to /dev/kmsg has another facility than 0, and the name of a process comes after the number.
var killedLine = regexp.MustCompile(`^([0-9]+),[^;]*;(?:Out of memory|Memory cgroup out of memory)[^:]*: Killed process ([0-9]+) \(`)

// killedBy is the process that the kernel says to have killed. The first number of a record has the facility from bit 3 on:
// 0 is the kernel's.
func killedBy(record string) (pid int, ok bool) {
	m := killedLine.FindStringSubmatch(record)
	if m == nil {
		return 0, false
	}
	if priority, err := strconv.Atoi(m[1]); err != nil || priority>>3 != 0 {
		return 0, false
	}
	pid, err := strconv.Atoi(m[2])
	return pid, err == nil
}

// readNames takes in the records since the last time. A read gives one record, and EPIPE where some have been overwritten.
func (o *OOM) readNames() {
	if o.log == 0 {
		return
	}
	record := make([]byte, 8<<10)
	for {
		n, err := unix.Read(o.log, record)
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		if pid, ok := killedBy(string(record[:n])); ok {
			o.named[pid] = true
		}
	}
}

// oomKills is the counter oom_kill of /proc/vmstat (proc(5), Linux 4.13).
func oomKills() (n int64, known bool) {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		if value, ok := strings.CutPrefix(string(line), "oom_kill "); ok {
			n, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}
