package fakeserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/leakbench/leakbench/internal/lines"
)

// ticksPerSecond is USER_HZ, which is 100 wherever Go runs on Linux.
const ticksPerSecond = 100

// parentDeathSignal is the signal that this process gets when the thread that launched it ends, or 0. The kernel keeps it with the
// first thread (task_struct), where Go initialises packages.
var parentDeathSignal = deathSignal()

func deathSignal() int {
	var sig int32
	if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, syscall.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&sig)), 0); errno != 0 {
		return 0
	}
	return int(sig)
}

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

// The events of poll(2).
const (
	pollErr   = 0x8
	pollHup   = 0x10
	pollRDHup = 0x2000 // of a socket whose peer writes no more
)

// stdinState says whether anybody can still write to stdin: "open", "closed", or "" if that can't be seen. A signal
// and the end of stdin are caught by two goroutines, and on a busy machine in any order: the kernel knows which came
// first, as long as it is asked before anything else is done.
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
	if onlyCopied(info, os.Getppid()) {
		return "closed"
	}
	return "open"
}

// mostAncestors is how far up the one is looked for who launched this process: there may be launchers between.
const mostAncestors = 8

// onlyCopied says that nobody above has the write end of a pipe any more, and that what keeps it open is a copy in a process that is being
// started: between fork and exec it has everything that its parent had. On a machine that stands still that takes a while.
func onlyCopied(pipe os.FileInfo, pid int) bool {
	var above []int
	for ; pid > 1 && len(above) < mostAncestors; pid = parentOf(pid) {
		if writes(pid, pipe) {
			return false
		}
		above = append(above, pid)
	}
	for _, parent := range above {
		line := commandLine(parent)
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
		for _, task := range tasks {
			children, _ := os.ReadFile(task)
			for _, word := range strings.Fields(string(children)) {
				child, _ := strconv.Atoi(word)
				if line != "" && commandLine(child) == line && writes(child, pipe) {
					return true
				}
			}
		}
	}
	return false
}

// writes says that a process can write to a pipe.
func writes(pid int, pipe os.FileInfo) bool {
	folder := fmt.Sprintf("/proc/%d/fd/", pid)
	fds, _ := os.ReadDir(folder)
	for _, fd := range fds {
		// The permissions of the link are what it was opened for (proc(5)).
		link, err := os.Lstat(folder + fd.Name())
		if err != nil || link.Mode().Perm()&0o200 == 0 {
			continue
		}
		if file, err := os.Stat(folder + fd.Name()); err == nil && os.SameFile(file, pipe) {
			return true
		}
	}
	return false
}

// parentOf is the pid of a process's parent, or 0.
func parentOf(pid int) (parent int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	var state string
	_, _ = fmt.Sscan(string(rest), &state, &parent)
	return parent
}

func commandLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(line)
}

// nap sleeps in the kernel. time.Sleep would leave the thread to the runtime,
// which has it wait in a futex like any other that has nothing to do.
func nap() {
	_ = syscall.Nanosleep(&syscall.Timespec{Sec: 1}, nil)
}

// awaitConnection waits in an event loop for a connection that never comes: a
// free port of the loopback. It returns only where there is no such socket.
func awaitConnection() {
	listener, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	if syscall.Bind(listener, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) != nil || syscall.Listen(listener, 1) != nil {
		return
	}
	loop, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(listener)}
	if syscall.EpollCtl(loop, syscall.EPOLL_CTL_ADD, listener, &event) != nil {
		return
	}
	for {
		if n, err := syscall.EpollWait(loop, make([]syscall.EpollEvent, 1), -1); n > 0 && err == nil {
			accepted(listener)
		}
	}
}

// accepted takes a visitor in and shows him out.
func accepted(listener int) {
	if fd, _, err := syscall.Accept4(listener, syscall.SOCK_CLOEXEC); err == nil {
		_ = syscall.Close(fd)
	}
}

// dropPages gives back the pages of the executable that starting up has mapped. They stay in the page cache and come back by
// themselves when they are needed. Most of what a big binary maps at its start is never used again, and counts as resident for
// each of the servers of a run, and is work for the kernel when a thousand of them die at once.
func dropPages() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range cleanMappings(f) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.size, syscall.MADV_DONTNEED)
	}
}

// mapping is a piece of the address space.
type mapping struct{ start, size uintptr }

// cleanMappings are the read-only mappings of files of which no page was ever written to: dropping a page that was (a
// relocation) would lose it. The form is that of smaps (proc_pid_smaps(5)): a line like one of maps, then a line
// "Name: value" for each of its figures.
func cleanMappings(smaps io.Reader) []mapping {
	var all []mapping
	var m mapping
	for in := lines.New(smaps, 4096); ; {
		line, err := in.Next()
		if err != nil {
			return all
		}
		if value, ok := bytes.CutPrefix(line, []byte("Anonymous:")); ok {
			if m.size > 0 && string(bytes.TrimSpace(value)) == "0 kB" {
				all = append(all, m)
			}
			m = mapping{}
		} else if len(line) > 0 && (line[0] < 'A' || line[0] > 'Z') {
			m = readOnlyFile(line)
		}
	}
}

// readOnlyFile reads "start-end perms offset dev inode path"; it is empty for any other kind of mapping.
func readOnlyFile(line []byte) mapping {
	var start, end uint64
	var perms, offset, device, inode, path string
	n, _ := fmt.Sscanf(string(line), "%x-%x %s %s %s %s %s", &start, &end, &perms, &offset, &device, &inode, &path)
	if n < 7 || len(perms) != 4 || perms[:2] != "r-" || perms[3] != 'p' || path[0] != '/' || end < start {
		return mapping{}
	}
	return mapping{uintptr(start), uintptr(end - start)}
}
