package fakeserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is USER_HZ, which is 100 wherever Go runs on Linux.
const ticksPerSecond = 100

// createdByBoot is when a process was created, in seconds since 1970, by the
// time of the boot in whole seconds (btime of proc_stat(5)).
func createdByBoot(pid int) (float64, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(text), "\nbtime ")
	boot, _, _ := strings.Cut(after, "\n")
	seconds, err := strconv.ParseFloat(boot, 64)
	age, ok := sinceBoot(pid)
	if err != nil || !ok {
		return 0, errors.New("the parent's creation time can't be read")
	}
	return seconds + age, nil
}

// createdByUptime is the same by the clock and the time since the boot: a
// fraction of a second beside it, and it moves when the clock is set.
func createdByUptime(pid int) float64 {
	now := float64(time.Now().UnixNano()) / 1e9
	text, _ := os.ReadFile("/proc/uptime")
	up, _, _ := strings.Cut(string(text), " ")
	uptime, _ := strconv.ParseFloat(up, 64)
	age, _ := sinceBoot(pid)
	return now - uptime + age
}

// sinceBoot is the start time of proc_pid_stat(5), the 22nd field, in seconds.
// The name before the last parenthesis may hold spaces.
func sinceBoot(pid int) (float64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, false
	}
	ticks, err := strconv.ParseFloat(string(fields[19]), 64)
	return ticks / ticksPerSecond, err == nil
}

// setName sets what the process table calls this process.
func setName(name string) { _ = os.WriteFile("/proc/self/comm", []byte(name), 0) }
