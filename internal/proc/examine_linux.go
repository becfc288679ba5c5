package proc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// maxThreads is how many threads of one process are asked what they wait for.
const maxThreads = 64

// Examine gathers what can be known of each process, in the order of ids. It never fails: what could not be read is
// named in Unseen, with the reason. Holders carry the name of their command as Role.
func Examine(ids []record.Identity) []record.Evidence {
	x := examiner{r: newReader(), table: NewTable(), now: sinceBoot()}
	found := make([]record.Evidence, len(ids))
	for i, id := range ids {
		found[i] = x.one(id)
	}
	x.findHolders(found)
	return found
}

type examiner struct {
	r     *reader
	table *Table
	now   time.Duration // since boot
	// watched is the process that is watched from outside, with what is below it; the zero value is none.
	watched record.Identity
	clocks  clocks // where something is watched
}

// sinceBoot is on the clock of start times: it counts suspends.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func (x *examiner) one(id record.Identity) record.Evidence {
	e := record.Evidence{Process: record.Process{Identity: id}}
	row, err := x.table.One(id.PID)
	if err == nil && row.Identity != id {
		err = fmt.Errorf("pid %d belongs to another process by now: %w", id.PID, ErrGone)
	}
	if err != nil {
		e.Unseen = append(e.Unseen, "anything: "+err.Error())
		return e
	}
	e.Process = row
	if x.now > 0 {
		e.Age = record.Duration(max(0, x.now-time.Duration(id.Start)*nanosPerTick))
	}
	if row.State == record.StateZombie {
		e.Unseen = append(e.Unseen, "descriptors, signals and system call: a zombie has none any more")
		return e
	}
	x.exe(&e)
	reads := x.waitsFor(&e)
	x.signals(&e)
	x.descriptors(&e)
	if x.watched.PID != 0 {
		x.idle(&e, reads)
		x.cgroup(&e)
	}
	if Gone(id) {
		e.Unseen = append(e.Unseen, "whether all of this is its own: it ended while it was looked at")
	}
	return e
}

func unseen(e *record.Evidence, what string, err error) {
	e.Unseen = append(e.Unseen, what+": "+reason(err))
}

func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

func (x *examiner) exe(e *record.Evidence) {
	target, err := os.Readlink(procPath(e.PID, "exe"))
	if err != nil {
		unseen(e, "exe", err)
		return
	}
	e.Exe = text.Name(target)
}

// waitsFor tells what the process is blocked in. A program with threads parks most of them: one that reads stdin says
// more than the leader, which is what is reported otherwise. It returns the thread that is sure to read stdin, or 0. A thread's files are
// read below /proc/TID: what is read below /proc/PID/task makes the end of the process dear (see schedstat).
func (x *examiner) waitsFor(e *record.Evidence) (reads int) {
	thread, failed := 0, ErrGone
	tids := x.r.threads(e.PID) // the leader first
	tids = tids[:min(len(tids), maxThreads)]
	for _, tid := range tids {
		line, err := x.r.line(tid, "syscall")
		if err != nil {
			failed = err
			continue
		}
		call := callName(string(line))
		if thread == 0 || readsStdin(call) {
			thread, e.Syscall = tid, call
		}
		if readsStdin(call) {
			reads = tid
			break
		}
	}
	if thread == 0 {
		unseen(e, "syscall", failed)
		thread = cmp.Or(readsByWchan(x.r, tids), e.PID)
	}
	wchan, err := x.r.line(thread, "wchan")
	if err != nil {
		unseen(e, "wchan", err)
		return reads
	}
	if name := string(wchan); name != "0" { // runs, or this user may not see it
		e.Wchan = text.Name(name)
	}
	return reads
}

// readsByWchan is a thread that is blocked in a read of a pipe or a socket, or 0. Yama refuses syscall to whoever is not an
// ancestor, and wchan to nobody (ptrace_may_access in kernel/ptrace.c).
func readsByWchan(r *reader, tids []int) int {
	for _, tid := range tids {
		if wchan, err := r.line(tid, "wchan"); err == nil && slices.Contains(readsPipe, string(wchan)) {
			return tid
		}
	}
	return 0
}

// readsPipe is where a read of a pipe or of a unix socket blocks: on Linux 6.12 and later, before that, and in any.
var readsPipe = []string{"anon_pipe_read", "pipe_read", "unix_stream_read_generic"}

func readsStdin(call string) bool {
	return strings.HasSuffix(call, "(0)") && (strings.HasPrefix(call, "read") || strings.HasPrefix(call, "recv"))
}

func threadFile(tid int, file string) string {
	return "task/" + strconv.Itoa(tid) + "/" + file
}

func procPath(pid int, file string) string {
	return "/proc/" + strconv.Itoa(pid) + "/" + file
}

// callName names the system call that a thread is blocked in: "read(0)", "futex", "" outside of one. It reads "NUMBER
// ARG0 ... SP PC", "-1 SP PC" (blocked, but in no call) or "running" (proc_pid_syscall(5)).
func callName(line string) string {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return ""
	}
	number, err := strconv.Atoi(fields[0])
	if err != nil || number < 0 {
		return ""
	}
	name := cmp.Or(calls[number], oldCalls[number], "syscall "+fields[0])
	if strings.Contains(name, "(") {
		fd, _ := strconv.ParseUint(strings.TrimPrefix(fields[1], "0x"), 16, 64)
		name = fmt.Sprintf(name, int32(fd))
	}
	return name
}

// signals reads the sets of /proc/PID/status.
func (x *examiner) signals(e *record.Evidence) {
	text, err := x.r.whole(e.PID, "status")
	if err != nil {
		unseen(e, "signals", err)
		return
	}
	status := fields(text)
	set := func(name string) uint64 {
		signals, _ := strconv.ParseUint(status[name], 16, 64)
		return signals
	}
	e.SigPending = setNames(set("SigPnd")|set("ShdPnd"), maxSignal)
	e.SigIgnored = setNames(set("SigIgn"), lastNamed)
	e.SigCaught = setNames(set("SigCgt"), lastNamed)
}

// fields reads lines of "name: value".
func fields(text []byte) map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		found[name] = strings.TrimSpace(value)
	}
	return found
}

// lastNamed is the last signal below the real-time ones, which every Go program catches and nobody asks for.
const lastNamed = 31

// setNames names the signals of a set in which signal n is bit n-1.
func setNames(set uint64, last int) []string {
	var names []string
	for n := 1; n <= last; n++ {
		if set&(1<<(n-1)) != 0 {
			names = append(names, SignalName(syscall.Signal(n)))
		}
	}
	return names
}
