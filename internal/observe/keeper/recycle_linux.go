package keeper

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	lastPID = "/proc/sys/kernel/ns_last_pid"
	// recycleFor is how long it is tried to get a pid that others may get, too.
	recycleFor = 5 * time.Second
	// stopsWithin is how long a process may take to stop.
	stopsWithin = time.Second
)

// recycle has a process of that very pid, which leads a group of that number. ns_last_pid is what the kernel gave out
// last in this namespace (Documentation/admin-guide/sysctl/kernel.rst).
func (l *placement) recycle(pid int) error {
	deadline := time.Now().Add(recycleFor)
	for {
		got, err := l.tryPID(pid)
		if got || time.Now().After(deadline) {
			if err == nil && !got {
				err = fmt.Errorf("pid %d could not be had within %s", pid, duration.Text(recycleFor))
			}
			return err
		}
		time.Sleep(5 * time.Millisecond) // sleep-ok: that a pid, or a group, is free again sends no word
	}
}

func (l *placement) tryPID(pid int) (bool, error) {
	l.mu.Lock() // the reaper must not take it for the host's
	defer l.mu.Unlock()
	if syscall.Kill(pid, 0) == nil || syscall.Kill(-pid, 0) == nil {
		return false, fmt.Errorf("pid %d is still in use", pid)
	}
	in, leash, err := os.Pipe()
	if err != nil {
		return false, err
	}
	defer in.Close()
	goOn, stopped := stopOthers()
	defer goOn()
	if !stopped {
		leash.Close()
		return false, nil // one of them could get the number, and keep it
	}
	got, err := startNext(pid, []*os.File{in, l.null, l.null})
	if err != nil {
		leash.Close()
		return false, err
	}
	if got != pid {
		leash.Close() // it ends with that
		_ = syscall.Kill(got, syscall.SIGKILL)
		_, _ = unix.Wait4(got, nil, 0, nil)
		return false, nil
	}
	l.recycled, l.leash = pid, leash
	return true, nil
}

// startNext starts a process of the bench's right after it has told the kernel to give out that pid next. No thread of our own
// may be started in between, as it would get the number and keep it. The runtime of Go starts threads for goroutines that can
// run while another one is within a system call, and for the garbage collector: so there is one processor, a raw write, and no collector.
func startNext(pid int, files []*os.File) (got int, err error) {
	next, err := os.OpenFile(lastPID, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer next.Close()
	fd, text := next.Fd(), []byte(strconv.Itoa(pid-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	if _, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text))); errno != 0 {
		return 0, os.NewSyscallError("write "+lastPID, errno)
	}
	return startProcess("/proc/self/exe", []string{os.Args[0], bystanderCommand}, &os.ProcAttr{
		Env: os.Environ(), Files: files, Sys: ownGroup(),
	})
}

// stopOthers stops everything else in this namespace until the returned function is called, and says whether all of it did stop in time.
// A thread that is started between the write to ns_last_pid and our fork gets the number, and may keep it for as long as its process lives.
func stopOthers() (goOn func(), all bool) {
	var stopped []int
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || halted(pid) {
			continue
		}
		if syscall.Kill(pid, syscall.SIGSTOP) == nil {
			stopped = append(stopped, pid)
		}
	}
	deadline := time.Now().Add(stopsWithin)
	for _, pid := range stopped {
		for !halted(pid) && time.Now().Before(deadline) {
			time.Sleep(time.Millisecond) // sleep-ok: only the parent of a process is told that it has stopped
		}
	}
	goOn = func() {
		for _, pid := range stopped {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	return goOn, !slices.ContainsFunc(stopped, func(pid int) bool { return !halted(pid) })
}

// halted says that no thread of a process runs. The state in its own stat is that of its first thread: another one may still be
// within clone(2) when that one has stopped.
func halted(pid int) bool {
	table := proc.NewTable()
	threads, _ := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	return !slices.ContainsFunc(threads, func(e os.DirEntry) bool {
		tid, _ := strconv.Atoi(e.Name())
		row, err := table.One(tid)
		return err == nil && !slices.Contains([]record.State{record.StateStopped, record.StateTraced, record.StateZombie}, row.State)
	})
}
