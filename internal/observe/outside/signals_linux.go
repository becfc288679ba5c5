package outside

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Signal is one that a process outside of the run has sent.
type Signal struct {
	Signal syscall.Signal
	To     int // the process that it was sent to
	From   int // the thread that sent it
	Comm   string
}

// Signals sees who sends signals that end processes, where the kernel may be asked to trace that: by root, with a tracefs mounted
// (Documentation/trace/events.rst).
type Signals struct {
	sent func(Signal)
	of   *trace
	over sync.WaitGroup // the calls of sent

	// The mutex of the trace guards the rest.
	family map[int]bool // threads of this process, and whatever they have started since
	unsaid []Signal     // that sent was not called for yet
	closed bool
	more   sync.Cond // one of both has changed
}

// trace is the kernel's trace that all who watch in this process share: each further one would have the kernel write down each fork of
// the machine once more.
type trace struct {
	parent *os.File // of dir: it can be removed from there though its mount is gone
	dir    string
	pipe   int
	ready  chan struct{} // a signal of this process's own was seen
	stop   chan struct{}
	over   sync.WaitGroup

	sync.Mutex
	shown    bool // ready is closed
	watching map[*Signals]bool
}

// shared is the trace of this process, nil while nobody watches.
var shared struct {
	sync.Mutex
	*trace
	err    error // why there was none the last time
	failed time.Time
}

// errForeign never goes away: a process stays in its pid namespace.
var errForeign = errors.New("the kernel's trace does not show this process: its numbers are those of another pid namespace")

const (
	fork     = "sched/sched_process_fork"
	generate = "signal/signal_generate"
	// fatal are SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL and SIGTERM; SIGCONT is what this process sends itself to try it.
	fatal = "sig==1||sig==2||sig==3||sig==6||sig==9||sig==15||sig==18"
	// tryFor is how long it may take to see a signal of this process's own, and to get the lock.
	tryFor = time.Second
	// staleFor is how long the lock may be held to remove what others have left. It is less than tryFor: others wait.
	staleFor = tryFor / 2
	// removeFor is how long it may take until nothing holds a trace any more: a process that is being started has, until its execve(2),
	// all descriptors of its parent.
	removeFor = 2 * time.Second
	instance  = "leakbench-"
)

// WatchSignals has sent called for each signal that neither this process nor anything that it has started since has sent. One call at a
// time is under way; one that takes long delays nobody else who watches.
func WatchSignals(sent func(Signal)) (*Signals, error) {
	s := &Signals{sent: sent, family: map[int]bool{}}
	asked := time.Now()
	shared.Lock()
	defer shared.Unlock()
	switch {
	case shared.trace != nil:
		if err := shared.watch(s); err != nil {
			return nil, err
		}
	case errors.Is(shared.err, errForeign) || shared.failed.After(asked): // all who have waited for one trial share what it came to
		return nil, shared.err
	default:
		t, err := newTrace(s)
		if err != nil {
			shared.err, shared.failed = err, time.Now()
			return nil, err
		}
		shared.trace = t
	}
	s.over.Go(s.tell)
	return s, nil
}

// newTrace begins a trace for s, and waits until it shows this process.
func newTrace(s *Signals) (*trace, error) {
	mount, err := tracefs()
	if err != nil {
		return nil, err
	}
	t := &trace{
		pipe: -1, ready: make(chan struct{}), stop: make(chan struct{}), watching: map[*Signals]bool{},
	}
	if err := t.begin(filepath.Join(mount, "instances"), s); err != nil {
		t.remove()
		return nil, err
	}
	t.over.Go(t.read)
	_ = syscall.Kill(os.Getpid(), syscall.SIGCONT)
	select {
	case <-t.ready:
		return t, nil
	case <-time.After(tryFor):
		t.end()
		if !isForeign() {
			return nil, fmt.Errorf("not traced: the kernel's trace did not show a signal of this process within %s", tryFor)
		}
		return nil, errForeign
	}
}

// isForeign says that this process is not known to be in the first pid namespace, which has a number of its own (PROC_PID_INIT_INO of
// linux/proc_ns.h).
func isForeign() bool {
	link, err := os.Readlink("/proc/self/ns/pid")
	return err != nil || link != "pid:[4026531836]"
}

// tracefs is where one is mounted.
func tracefs() (string, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mounts)) {
		before, after, _ := strings.Cut(line, " - ")
		if fields := strings.Fields(before); strings.HasPrefix(after, "tracefs ") && len(fields) > 4 {
			return fields[4], nil
		}
	}
	return "", errors.New("no tracefs is mounted")
}

func (t *trace) begin(parent string, s *Signals) error {
	if err := t.claim(parent); err != nil {
		return err
	}
	for _, w := range [][2]string{
		{"buffer_size_kb", "128"},
		{"events/" + generate + "/filter", fatal},
		{"events/" + fork + "/enable", "1"},
		{"events/" + generate + "/enable", "1"},
	} {
		if err := os.WriteFile(filepath.Join(t.dir, w[0]), []byte(w[1]), 0); err != nil {
			return err
		}
	}
	return t.watch(s)
}

// claim makes the trace, and holds it: nobody else takes it for a stale one.
func (t *trace) claim(parent string) (err error) {
	if t.parent, err = os.Open(parent); err != nil {
		return err
	}
	if err := t.lock(); err != nil {
		return err
	}
	defer func() { _ = unix.Flock(int(t.parent.Fd()), unix.LOCK_UN) }()
	t.removeStale()
	// Benches in pid namespaces may have the same number.
	if t.dir, err = os.MkdirTemp(parent, fmt.Sprintf("%s%d-", instance, os.Getpid())); err != nil {
		return err
	}
	t.pipe, err = unix.Open(filepath.Join(t.dir, "trace_pipe"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	return err
}

// lock waits for other benches, but not for one that is stopped: flock(2) knows no limit.
func (t *trace) lock() error {
	for begun := time.Now(); ; {
		err := unix.Flock(int(t.parent.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return err
		case time.Since(begun) > tryFor:
			return fmt.Errorf("not traced: another process holds the lock of %s", t.parent.Name())
		}
		time.Sleep(time.Millisecond) // sleep-ok: nobody says when it is free
	}
}

// removeStale removes what benches have left that were killed: the kernel would write down each fork of the machine for it until the next
// boot. It does not remove what a bench still reads.
func (t *trace) removeStale() {
	all, _ := filepath.Glob(filepath.Join(t.parent.Name(), instance+"*"))
	begun := time.Now()
	for _, dir := range all {
		if _ = unix.Rmdir(dir); time.Since(begun) > staleFor {
			return // the next bench goes on
		}
	}
}

// watch has the trace tell s, too. The family of s is this process as it is now: what was started before is outside.
func (t *trace) watch(s *Signals) error {
	t.Lock()
	defer t.Unlock()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		if tid, err := strconv.Atoi(task.Name()); err == nil {
			s.family[tid] = true
		}
	}
	s.of, s.more.L = t, &t.Mutex
	t.watching[s] = true
	return nil
}

// read takes in lines until Close.
func (t *trace) read() {
	var held string
	buf := make([]byte, 16<<10)
	for {
		select {
		case <-t.stop:
			return
		default:
		}
		n, err := unix.Read(t.pipe, buf)
		if n > 0 && err == nil {
			lines := strings.Split(held+string(buf[:n]), "\n")
			for _, line := range lines[:len(lines)-1] {
				t.take(line)
			}
			held = lines[len(lines)-1]
			continue
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(t.pipe), Events: unix.POLLIN}}, 50)
	}
}

// Lines of a trace: "   comm-123     [001] d..1.  12.345678: signal_generate: sig=9 errno=0 code=0 comm=x pid=456 grp=1 res=0",
// and "sched_process_fork: comm=a pid=1 child_comm=b child_pid=2".
var (
	signalLine = regexp.MustCompile(`^\s*(.*)-(\d+)\s+\[\d+\].*?: signal_generate: sig=(\d+) .* pid=(\d+) grp=`)
	forkLine   = regexp.MustCompile(`: sched_process_fork: comm=.* pid=(\d+) child_comm=.* child_pid=(\d+)$`)
)

func (t *trace) take(line string) {
	t.Lock()
	defer t.Unlock()
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	if m := forkLine.FindStringSubmatch(line); m != nil {
		for s := range t.watching {
			s.born(number(m[1]), number(m[2]))
		}
		return
	}
	m := signalLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	from, sig, to := number(m[2]), syscall.Signal(number(m[3])), number(m[4])
	for s := range t.watching {
		ours := s.family[from]
		switch {
		case sig == syscall.SIGCONT:
			if ours && to == os.Getpid() && !t.shown {
				t.shown = true
				close(t.ready)
			}
		case t.shown && !ours:
			s.unsaid = append(s.unsaid, Signal{Signal: sig, To: to, From: from, Comm: m[1]})
			s.more.Signal()
		}
	}
}

// born takes the child in if its parent is of the family. Another's child may have got the number of one that was of it and has ended.
func (s *Signals) born(parent, child int) {
	switch {
	case s.family[parent]:
		s.family[child] = true
	case s.family[child] && !ownThread(child):
		delete(s.family, child)
	}
}

// ownThread says whether this process has that thread: one that has ended may have started it before the watch began.
func ownThread(tid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
	return err == nil
}

// tell calls sent until Close, and for what was seen before that.
func (s *Signals) tell() {
	for {
		s.of.Lock()
		for len(s.unsaid) == 0 && !s.closed {
			s.more.Wait()
		}
		now := s.unsaid
		s.unsaid = nil
		s.of.Unlock()
		if len(now) == 0 {
			return
		}
		for _, signal := range now {
			s.sent(signal)
		}
	}
}

// Close ends the watch after all signals that it saw have been reported. The last Close ends the trace. sent must not call it.
func (s *Signals) Close() {
	if s == nil {
		return
	}
	if s.leave() {
		s.of.end()
	}
	s.over.Wait()
}

// leave says whether s was the last one.
func (s *Signals) leave() bool {
	shared.Lock()
	defer shared.Unlock()
	s.of.Lock()
	defer s.of.Unlock()
	if s.closed {
		return false
	}
	s.closed = true
	s.more.Signal()
	delete(s.of.watching, s)
	if len(s.of.watching) > 0 {
		return false
	}
	shared.trace = nil
	return true
}

func (t *trace) end() {
	close(t.stop)
	t.over.Wait()
	t.remove()
}

func (t *trace) remove() {
	if t.pipe >= 0 {
		_ = unix.Close(t.pipe)
	}
	if t.parent == nil {
		return
	}
	for begun := time.Now(); t.dir != "" && time.Since(begun) < removeFor; {
		err := unix.Unlinkat(int(t.parent.Fd()), filepath.Base(t.dir), unix.AT_REMOVEDIR) // which ends its tracing
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(time.Millisecond) // sleep-ok: nobody says when it is not held any more
	}
	t.parent.Close()
}
