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
	parent *os.File // of dir: it can be removed from there though its mount is gone
	dir    string
	pipe   int
	sent   func(Signal)
	family map[int]bool  // threads of this process, and whatever they have started since
	ready  chan struct{} // a signal of this process's own was seen
	seen   sync.Once
	stop   chan struct{}
	over   sync.WaitGroup
}

const (
	fork     = "sched/sched_process_fork"
	generate = "signal/signal_generate"
	// fatal are SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL and SIGTERM; SIGCONT is what this process sends itself to try it.
	fatal = "sig==1||sig==2||sig==3||sig==6||sig==9||sig==15||sig==18"
	// tryFor is how long it may take to see a signal of this process's own.
	tryFor = time.Second
)

var instances atomic.Int64

// WatchSignals has sent called for each signal that neither this process nor anything that it has started since has sent.
func WatchSignals(sent func(Signal)) (*Signals, error) {
	mount, err := tracefs()
	if err != nil {
		return nil, err
	}
	s := &Signals{
		dir: filepath.Join(mount, "instances", fmt.Sprintf("leakbench-%d-%d", os.Getpid(), instances.Add(1))), pipe: -1,
		sent: sent, family: map[int]bool{}, ready: make(chan struct{}), stop: make(chan struct{}),
	}
	if err := s.begin(); err != nil {
		s.remove()
		return nil, err
	}
	s.over.Go(s.read)
	_ = syscall.Kill(os.Getpid(), syscall.SIGCONT)
	select {
	case <-s.ready:
		return s, nil
	case <-time.After(tryFor):
		s.Close()
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

func (s *Signals) begin() (err error) {
	if s.parent, err = os.Open(filepath.Dir(s.dir)); err != nil {
		return err
	}
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	for _, w := range [][2]string{
		{"buffer_size_kb", "128"}, {"events/" + generate + "/filter", fatal}, {"events/" + fork + "/enable", "1"}, {"events/" + generate + "/enable", "1"},
	} {
		if err := os.WriteFile(filepath.Join(s.dir, w[0]), []byte(w[1]), 0); err != nil {
			return err
		}
	}
	tasks, err := os.ReadDir("/proc/self/task")
	for _, t := range tasks {
		if tid, err := strconv.Atoi(t.Name()); err == nil {
			s.family[tid] = true
		}
	}
	if err == nil {
		s.pipe, err = unix.Open(filepath.Join(s.dir, "trace_pipe"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	}
	return err
}

// read takes in lines until Close.
func (s *Signals) read() {
	var held string
	buf := make([]byte, 16<<10)
	for {
		select {
		case <-s.stop:
			return
		default:
		}
		n, err := unix.Read(s.pipe, buf)
		if n > 0 && err == nil {
			lines := strings.Split(held+string(buf[:n]), "\n")
			for _, line := range lines[:len(lines)-1] {
				s.take(line)
			}
			held = lines[len(lines)-1]
			continue
		}
		_, _ = unix.Poll([]unix.PollFd{{Fd: int32(s.pipe), Events: unix.POLLIN}}, 50)
	}
}

// Lines of a trace: "   comm-123     [001] d..1.  12.345678: signal_generate: sig=9 errno=0 code=0 comm=x pid=456 grp=1 res=0",
// and "sched_process_fork: comm=a pid=1 child_comm=b child_pid=2".
var (
	signalLine = regexp.MustCompile(`^\s*(.*)-(\d+)\s+\[\d+\].*?: signal_generate: sig=(\d+) .* pid=(\d+) grp=`)
	forkLine   = regexp.MustCompile(`: sched_process_fork: comm=.* pid=(\d+) child_comm=.* child_pid=(\d+)$`)
)

func (s *Signals) take(line string) {
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	if m := forkLine.FindStringSubmatch(line); m != nil {
		if s.family[number(m[1])] {
			s.family[number(m[2])] = true
		}
		return
	}
	m := signalLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	from, sig, to := number(m[2]), syscall.Signal(number(m[3])), number(m[4])
	switch {
	case sig == syscall.SIGCONT:
		if to == os.Getpid() && s.family[from] {
			s.seen.Do(func() { close(s.ready) })
		}
	case !s.family[from]:
		s.sent(Signal{Signal: sig, To: to, From: from, Comm: m[1]})
	}
}

// Close ends the watch.
func (s *Signals) Close() {
	if s == nil {
		return
	}
	close(s.stop)
	s.over.Wait()
	s.remove()
}

func (s *Signals) remove() {
	if s.pipe >= 0 {
		_ = unix.Close(s.pipe)
	}
	if s.parent != nil {
		_ = unix.Unlinkat(int(s.parent.Fd()), filepath.Base(s.dir), unix.AT_REMOVEDIR) // which ends its tracing
		s.parent.Close()
	}
}
