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
	"sync/atomic"
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
	sent   func(Signal)
	family map[int]bool // threads of this process, and whatever they have started since
}

// trace is the kernel's trace that all who watch in this process share: each further one would have the kernel write down each fork of
// the machine once more.
type trace struct {
	parent *os.File // of dir: it can be removed from there though its mount is gone
	dir    string
	pipe   int
	ready  chan struct{} // a signal of this process's own was seen
	seen   sync.Once
	own    *Signals // sees that it is this process's own
	stop   chan struct{}
	over   sync.WaitGroup

	sync.Mutex
	watching map[*Signals]bool
}

// shared is the trace of this process, nil while nobody watches.
var shared struct {
	sync.Mutex
	*trace
}

const (
	fork     = "sched/sched_process_fork"
	generate = "signal/signal_generate"
	// fatal are SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL and SIGTERM; SIGCONT is what this process sends itself to try it.
	fatal = "sig==1||sig==2||sig==3||sig==6||sig==9||sig==15||sig==18"
	// tryFor is how long it may take to see a signal of this process's own.
	tryFor = time.Second
	// removeFor is how long it may take until nothing holds a trace any more: a process that is being started has, until its execve(2),
	// all descriptors of its parent.
	removeFor = 2 * time.Second
	instance  = "leakbench-"
)

var instances atomic.Int64

// WatchSignals has sent called for each signal that neither this process nor anything that it has started since has sent.
func WatchSignals(sent func(Signal)) (*Signals, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.trace == nil {
		t, err := newTrace()
		if err != nil {
			return nil, err
		}
		shared.trace = t
	}
	s := &Signals{sent: sent, family: map[int]bool{}}
	return s, shared.watch(s)
}

// newTrace begins a trace, and waits until it shows this process.
func newTrace() (*trace, error) {
	mount, err := tracefs()
	if err != nil {
		return nil, err
	}
	t := &trace{
		dir: filepath.Join(mount, "instances", fmt.Sprintf("%s%d-%d", instance, os.Getpid(), instances.Add(1))), pipe: -1,
		ready: make(chan struct{}), own: &Signals{family: map[int]bool{}}, stop: make(chan struct{}), watching: map[*Signals]bool{},
	}
	if err := t.begin(); err != nil {
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
		return nil, errors.New("the kernel's trace does not show this process: its numbers are those of another pid namespace")
	}
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

func (t *trace) begin() (err error) {
	if t.parent, err = os.Open(filepath.Dir(t.dir)); err != nil {
		return err
	}
	if err := unix.Flock(int(t.parent.Fd()), unix.LOCK_EX); err != nil { // nobody takes it for a stale one meanwhile
		return err
	}
	defer func() { _ = unix.Flock(int(t.parent.Fd()), unix.LOCK_UN) }()
	t.removeStale()
	if err := os.Mkdir(t.dir, 0o700); err != nil {
		return err
	}
	if t.pipe, err = unix.Open(filepath.Join(t.dir, "trace_pipe"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
		return err
	}
	for _, w := range [][2]string{
		{"buffer_size_kb", "128"}, {"events/" + generate + "/filter", fatal}, {"events/" + fork + "/enable", "1"}, {"events/" + generate + "/enable", "1"},
	} {
		if err := os.WriteFile(filepath.Join(t.dir, w[0]), []byte(w[1]), 0); err != nil {
			return err
		}
	}
	return t.watch(t.own)
}

// removeStale removes what benches have left that were killed: the kernel would write down each fork of the machine for it until the next
// boot. It does not remove what a bench still reads.
func (t *trace) removeStale() {
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(t.dir), instance+"*"))
	begun := time.Now()
	for _, dir := range all {
		if _ = unix.Rmdir(dir); time.Since(begun) > removeFor {
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
			if s.family[number(m[1])] {
				s.family[number(m[2])] = true
			}
		}
		return
	}
	m := signalLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	from, sig, to := number(m[2]), syscall.Signal(number(m[3])), number(m[4])
	if sig == syscall.SIGCONT {
		if to == os.Getpid() && t.own.family[from] {
			t.seen.Do(func() { close(t.ready) })
		}
		return
	}
	for s := range t.watching {
		if s.sent != nil && !s.family[from] {
			s.sent(Signal{Signal: sig, To: to, From: from, Comm: m[1]})
		}
	}
}

// Close ends the watch. The last one ends the trace.
func (s *Signals) Close() {
	if s == nil {
		return
	}
	shared.Lock()
	defer shared.Unlock()
	shared.trace.Lock()
	delete(shared.watching, s)
	left := len(shared.watching)
	shared.trace.Unlock()
	if left == 1 { // the trace's own
		shared.end()
		shared.trace = nil
	}
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
	for begun := time.Now(); time.Since(begun) < removeFor; {
		err := unix.Unlinkat(int(t.parent.Fd()), filepath.Base(t.dir), unix.AT_REMOVEDIR) // which ends its tracing
		if !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(time.Millisecond) // sleep-ok: nobody says when it is not held any more
	}
	t.parent.Close()
}
