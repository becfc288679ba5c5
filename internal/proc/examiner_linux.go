package proc

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Examiner gathers evidence on a process that is watched from outside, and on what is below it, again and again. It serves one
// goroutine at a time.
type Examiner struct{ x examiner }

// NewExaminer returns an examiner of a process.
func NewExaminer(watched record.Identity) *Examiner {
	return &Examiner{examiner{r: newReader(), table: NewTable(), watched: watched}}
}

// Begin begins a round of looks.
func (x *Examiner) Begin() { x.x.clocks = readClocks() }

// Look is Examine without who holds the other ends, which takes a look at every process there is.
func (x *Examiner) Look(id record.Identity) record.Evidence {
	x.x.now = sinceBoot()
	return x.x.one(id)
}

// AgeOf is how old a process is now.
func AgeOf(id record.Identity) record.Duration {
	return record.Duration(max(0, sinceBoot()-time.Duration(id.Start)*nanosPerTick))
}

// Holders fills in who holds the other ends of descriptors. It returns what the watched process itself holds of others, or nil if
// that is not known.
func (x *Examiner) Holders(all []record.Evidence) *record.Handles {
	own, pidfds, seen := x.x.pipesOf(x.x.watched.PID)
	ends := map[string][]record.Holder{}
	for _, d := range own {
		ends[d.Target] = nil
	}
	for i := range all { // asked anew
		all[i].Unseen = slices.DeleteFunc(all[i].Unseen, func(s string) bool { return strings.HasPrefix(s, "who holds ") })
	}
	if certain := x.x.holders(all, ends); !seen || !certain {
		return nil
	}
	h, below := &record.Handles{}, map[int]bool{}
	for i := range all {
		below[all[i].PID] = all[i].PID != x.x.watched.PID
	}
	for _, pid := range pidfds {
		switch {
		case pid < 0:
			h.PIDFDs++
		case below[pid]:
			h.Living++
		}
	}
	for _, d := range own {
		if len(holdersOf(ends[d.Target], d)) == 0 {
			h.Dangling++
		}
	}
	return h
}

// pipesOf are the pipe ends of a process beyond stdin, stdout and stderr, and the pids that its pidfds lead to: -1 where the process was
// waited for (pidfd_open(2)).
func (x *examiner) pipesOf(pid int) (pipes []record.Descriptor, pidfds []int, seen bool) {
	link := make([]byte, 64)
	err := x.r.eachIn(pid, "fd", func(fd int) {
		n, err := unix.Readlink(procPath(pid, "fd/"+strconv.Itoa(fd)), link)
		if err != nil || fd < 3 {
			return
		}
		switch target := string(link[:n]); {
		case strings.HasPrefix(target, "pipe:"):
			pipes = append(pipes, record.Descriptor{FD: fd, Target: target})
		case target == "anon_inode:[pidfd]":
			info, _ := os.ReadFile(procPath(pid, "fdinfo/"+strconv.Itoa(fd))) // of none, nothing
			if to, err := strconv.Atoi(fields(info)["Pid"]); err == nil {
				pidfds = append(pidfds, to)
			}
		}
	})
	for i := range pipes { // eachIn has the large buffer until here
		pipes[i].Mode = x.mode(pid, pipes[i].FD)
	}
	return pipes, pidfds, err == nil
}

// cgroup is the group of the unified hierarchy, or where there is none, that of systemd's (cgroups(7)).
func (x *examiner) cgroup(e *record.Evidence) {
	lines, err := x.r.whole(e.PID, "cgroup")
	if err != nil {
		unseen(e, "cgroup", err)
		return
	}
	for line := range strings.Lines(string(lines)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 && (parts[0] == "0" || parts[1] == "name=systemd") && (e.Cgroup == "" || parts[2] != "/") {
			e.Cgroup = text.Name(parts[2])
		}
	}
}

// idle says how long no thread has run that may read stdin: the one that is known to, or else any.
func (x *examiner) idle(e *record.Evidence, reads int) {
	tids := []int{reads}
	if reads == 0 {
		if tids = x.r.threads(e.PID); len(tids) > maxThreads {
			e.Unseen = append(e.Unseen, "how long it is idle: it has too many threads")
			return
		}
	}
	least := time.Duration(math.MaxInt64)
	for _, tid := range tids {
		idle, err := x.clocks.idle(x.r, e.PID, tid)
		if err != nil {
			unseen(e, "how long it is idle", err)
			return
		}
		least = min(least, idle)
	}
	if len(tids) > 0 {
		e.Idle = (*record.Duration)(&least)
	}
}

// clocks are by how much the scheduler's clock of each processor is ahead of CLOCK_MONOTONIC. Each processor has one of its own,
// which leaves out the time that the host of a virtual machine has stolen from it: seconds apart after some hours.
type clocks map[int]time.Duration

// readClocks reads them on each processor that this process may use.
func readClocks() clocks {
	runtime.LockOSThread()
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		runtime.UnlockOSThread()
		return nil
	}
	c := clocks{}
	for cpu, left := 0, allowed.Count(); left > 0; cpu++ {
		if !allowed.IsSet(cpu) {
			continue
		}
		left--
		var one unix.CPUSet
		one.Set(cpu)
		if unix.SchedSetaffinity(0, &one) != nil {
			continue
		}
		// The thread has just been moved here, or it has been here for a tick at most.
		if ahead, err := aheadBy(func() (time.Duration, error) { return ranAt("/proc/thread-self/sched") }, monotonic); err == nil {
			c[cpu] = ahead
		}
	}
	if unix.SchedSetaffinity(0, &allowed) == nil {
		runtime.UnlockOSThread() // else the thread ends with this goroutine
	}
	return c
}

// aheadBy is by how much the clock of a processor is ahead of now. A thread that loses the processor between the two readings finds
// too little, by however long it waits for it: the most of a few tries counts, and a short one ends them.
func aheadBy(ran func() (time.Duration, error), now func() time.Duration) (time.Duration, error) {
	ahead := time.Duration(math.MinInt64)
	for range mostTries {
		before := now()
		at, err := ran()
		if err != nil {
			return 0, err
		}
		after := now()
		if ahead = max(ahead, at-after); after-before < shortTry {
			break
		}
	}
	return ahead, nil
}

const mostTries, shortTry = 10, time.Millisecond // long for the reading of a small file, short for a thread that loses its processor

var (
	errNoClock = errors.New("it ran last on a processor whose clock this process can't read")
	// errForgotten: since Linux 6.12 a sleeper stays in its run queue for a while, and moves with it; that clears se.exec_start
	// (migrate_task_rq_fair in kernel/sched/fair.c).
	errForgotten = errors.New("the kernel has moved it to another processor in its sleep, and has forgotten when it ran last")
)

// idle is how long a thread has not run, at the most by what its processor's clock has left out since.
func (c clocks) idle(r *reader, pid, tid int) (time.Duration, error) {
	ran, err := ranAt(procPath(pid, threadFile(tid, "sched")))
	if err != nil {
		return 0, err
	}
	var s stat
	line, err := r.line(pid, threadFile(tid, "stat"))
	if err != nil {
		return 0, err
	}
	ahead, known := time.Duration(0), s.parse(line)
	if known {
		ahead, known = c[s.cpuLast]
	}
	switch {
	case ran == 0:
		return 0, errForgotten
	case !known:
		return 0, errNoClock
	}
	return max(0, monotonic()+ahead-ran), nil
}

// ranAt is when a thread had a processor last, by that processor's clock: se.exec_start, which any user may read
// (proc_sched_show_task in kernel/sched/debug.c).
func ranAt(path string) (time.Duration, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	_, after, found := bytes.Cut(file, []byte("se.exec_start"))
	if !found {
		return 0, fmt.Errorf("the kernel does not tell when it ran last")
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	ms, err := strconv.ParseFloat(string(bytes.TrimLeft(line, ": \t")), 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
