package starved

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
func schedstat(pid string) (ran, delayed record.Duration, known bool) {
	tasks, err := os.Open(filepath.Join("/proc", pid, "task"))
	if err != nil {
		return 0, 0, false
	}
	defer tasks.Close()
	names, _ := tasks.Readdirnames(-1)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("/proc", name, "schedstat"))
		if err != nil {
			continue // the thread has ended
		}
		if fields := strings.Fields(string(text)); len(fields) >= 2 {
			had, _ := strconv.ParseInt(fields[0], 10, 64)
			waited, _ := strconv.ParseInt(fields[1], 10, 64)
			ran, delayed, known = ran+record.Duration(had), delayed+record.Duration(waited), true
		}
	}
	return ran, delayed, known
}
