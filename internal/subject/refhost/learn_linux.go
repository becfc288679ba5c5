package refhost

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// childrenOfMainThread reads /proc/self/task/<tgid>/children, as
// hermes-agent's _snapshot_child_pids does. The file lists what that one
// thread has forked.
func childrenOfMainThread() []child {
	return childrenIn(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
}

// childrenOfAllThreads reads the file of every thread. A kernel without these
// files (CONFIG_PROC_CHILDREN) leaves the process table.
func childrenOfAllThreads() []child {
	files, _ := filepath.Glob("/proc/self/task/[0-9]*/children")
	if len(files) == 0 {
		return childrenInTable()
	}
	var all []child
	for _, file := range files {
		all = append(all, childrenIn(file)...)
	}
	return all
}

// childrenIn reads one file; a thread that has ended has none any more.
func childrenIn(file string) []child {
	var all []child
	for _, pid := range pidsIn(file) {
		if st, ok := statOf(pid); ok {
			all = append(all, child{pid, st.start})
		}
	}
	return all
}

func pidsIn(file string) []int {
	text, _ := os.ReadFile(file)
	var all []int
	for _, field := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// childrenInTable looks through all processes for those whose parent this is.
func childrenInTable() []child {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var all []child
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if st, ok := statOf(pid); ok && st.ppid == os.Getpid() {
			all = append(all, child{pid, st.start})
		}
	}
	return all
}

type stat struct {
	state byte
	ppid  int
	start uint64
}

// statOf reads /proc/PID/stat. The command's name stands in parentheses and
// may hold some itself: what follows begins after the last one.
func statOf(pid int) (stat, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	const state, ppid, start = 0, 1, 19 // the 3rd, 4th and 22nd of proc_pid_stat(5); what precedes them was cut off
	if len(fields) <= start {
		return stat{}, false
	}
	parent, err1 := strconv.Atoi(string(fields[ppid]))
	begun, err2 := strconv.ParseUint(string(fields[start]), 10, 64)
	return stat{fields[state][0], parent, begun}, err1 == nil && err2 == nil
}

// alive reports whether c is still this host's child and has not exited. The
// pid of a child that was not waited for can't be anybody else's.
func (c child) alive() bool {
	st, ok := statOf(c.pid)
	return ok && st.start == c.start && st.ppid == os.Getpid() && st.state != 'Z' && st.state != 'X'
}

func onMainThread() bool { return unix.Gettid() == os.Getpid() }
