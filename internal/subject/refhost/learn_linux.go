package refhost

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// childrenOfMainThread reads /proc/self/task/<tgid>/children, as hermes-agent's _snapshot_child_pids does. The file
// lists what that one thread has forked.
func childrenOfMainThread() []child {
	return identified(pidsIn(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())))
}

// childrenOfAllThreads reads the file of every thread. A kernel without these
// files (CONFIG_PROC_CHILDREN) leaves the process table.
func childrenOfAllThreads() []child {
	files := childrenFiles("self")
	if len(files) == 0 {
		return childrenInTable()
	}
	return identified(pidsIn(files...))
}

// childrenInTable looks through all processes.
func childrenInTable() []child { return identified(numbersIn("/proc")) }

// childrenFiles are the files of a process's threads that list what each has forked; none on a kernel without them. Nothing but the
// names of the threads is listed: the kernel keeps an entry for each name that a listing has, and works through them when a process ends.
func childrenFiles(process string) (files []string) {
	for _, thread := range numbersIn("/proc/" + process + "/task") {
		file := fmt.Sprintf("/proc/%s/task/%d/children", process, thread)
		if _, err := os.Lstat(file); err == nil {
			files = append(files, file)
		}
	}
	return files
}

// pidsIn are the pids in some files; a thread that has ended has none any more.
func pidsIn(files ...string) []int {
	var all []int
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, field := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// identified are those of the processes whose parent this is.
func identified(pids []int) []child {
	var all []child
	for _, pid := range pids {
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
