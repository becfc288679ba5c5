package patience

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// lastLoad is what this process had of the processors when somebody last looked: its threads grow with the runs that are side by side,
// and so do those who look.
var lastLoad struct {
	sync.Mutex
	record.Load
	at time.Time
}

// lookEvery is how old that may be.
const lookEvery = 5 * time.Millisecond

// benchLoad is what this process had of the processors.
func benchLoad() record.Load {
	lastLoad.Lock()
	defer lastLoad.Unlock()
	if lastLoad.at.IsZero() || time.Since(lastLoad.at) > lookEvery {
		lastLoad.Ran, lastLoad.Delayed, _ = schedstat("self")
		lastLoad.at = time.Now()
	}
	return lastLoad.Load
}

// shareOf is how long the threads of a process have run, and how long they have waited for a processor. A wait counts once it is over
// (sched_info_arrive, kernel/sched/stats.h).
func shareOf(pid int) (ran, delayed record.Duration, known bool) { return schedstat(strconv.Itoa(pid)) }

// gone says that there is no such process, or nothing but its zombie, which has no tasks to look into.
func gone(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return err != nil || bytes.HasPrefix(after, []byte(" Z"))
}

// schedstat is what the threads of a process had and wanted together (Documentation/scheduler/sched-stats.rst: time on a
// processor, time waited for one, in nanoseconds). What ended threads had is not in it. A thread has its files also below /proc itself
// (proc(5)). Those below /proc/PID/task are dear: when the process ends, the kernel takes their entries out of its cache for the thread and
// for the process at once, and who waits for the process spins until that is over, for milliseconds on a busy machine.
//
// It is read often, and of every thread: package os would make twice as many system calls.
func schedstat(pid string) (ran, delayed record.Duration, known bool) {
	buf := make([]byte, 4<<10)
	tasks, err := syscall.Open("/proc/"+pid+"/task", syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, 0, false
	}
	defer syscall.Close(tasks)
	var names []string
	for {
		n, err := syscall.ReadDirent(tasks, buf)
		if err != nil || n <= 0 {
			break
		}
		_, _, names = syscall.ParseDirent(buf[:n], -1, names)
	}
	for _, name := range names {
		text := readLine("/proc/"+name+"/schedstat", buf)
		had, rest, ok := cutNumber(text)
		waited, _, both := cutNumber(rest)
		if !ok || !both {
			continue // the thread has ended
		}
		ran, delayed, known = ran+record.Duration(had), delayed+record.Duration(waited), true
	}
	return ran, delayed, known
}

// readLine reads a file below /proc that one read(2) gives whole; nothing where there is none.
func readLine(path string, buf []byte) []byte {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	n, _ := syscall.Read(fd, buf)
	return buf[:max(n, 0)]
}

// cutNumber takes the number that a text begins with.
func cutNumber(text []byte) (number int64, rest []byte, ok bool) {
	rest = text
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' {
		number, rest, ok = number*10+int64(rest[0]-'0'), rest[1:], true
	}
	return number, bytes.TrimLeft(rest, " "), ok
}
