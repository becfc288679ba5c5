package refhost

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// strays finds what has left a server's process group, or its process tree: children that called setsid, or were
// forked twice. The host is the child subreaper, so that they come home to it when their parents end, and each launch
// has a mark in its environment, which they inherit and which tells whose they are (Jenkins finds the processes of a
// build so). What outlives a host that is killed is left to its guard. What clears its environment is out of reach: it takes a
// cgroup or a PID namespace to hold that, for which most hosts lack the rights.
type strays struct {
	mu       sync.Mutex
	own      map[int]bool // launched, and not waited for yet
	launches int
}

const markName = "REFHOST_LAUNCH"

func newStrays(catalogue.Flaw) *strays {
	s := &strays{own: map[int]bool{}}
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// Package os forks and reaps a probe of its own at the first process; that must be over before somebody else reaps.
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
	go s.reapForEver()
	return s
}

// start starts a server with a mark of its own. Under the lock none of those who reap can take it for a stray. Where it is to die with
// the host, the kernel kills it when the thread that starts it, the spawner's, ends.
func (s *strays) start(cmd *exec.Cmd, dieWithHost bool) error {
	if dieWithHost {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.launches++
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d.%d", markName, os.Getpid(), s.launches))
	err := cmd.Start()
	if err == nil {
		s.own[cmd.Process.Pid] = true
	}
	return err
}

func (*strays) connected(*exec.Cmd) {}

// wait waits for a server's exit.
func (s *strays) wait(cmd *exec.Cmd) {
	_ = cmd.Wait()
	s.mu.Lock()
	delete(s.own, cmd.Process.Pid)
	s.mu.Unlock()
}

// reapForEver waits for those that came home: a subreaper that does not gathers zombies.
func (s *strays) reapForEver() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	for range died {
		s.mu.Lock()
		for _, pid := range s.adopted() {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
		s.mu.Unlock()
	}
}

// adopted are the host's children that it did not launch. The caller holds mu.
func (s *strays) adopted() []int {
	return slices.DeleteFunc(pidsIn(childrenFiles("self")...), func(pid int) bool { return s.own[pid] })
}

// of are the living strays of a server that has exited, with all below them.
func (s *strays) of(cmd *exec.Cmd) []child {
	mark := []byte(cmd.Env[len(cmd.Env)-1])
	s.mu.Lock()
	queue := s.adopted()
	s.mu.Unlock()
	found := map[child]bool{}
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		st, ok := statOf(pid)
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		marked := err == nil && slices.ContainsFunc(bytes.Split(env, []byte{0}), func(v []byte) bool { return bytes.Equal(v, mark) })
		if ok && marked && st.state != 'Z' && st.state != 'X' && !found[child{pid, st.start}] {
			found[child{pid, st.start}] = true
			queue = append(queue, pidsIn(childrenFiles(strconv.Itoa(pid))...)...)
		}
	}
	return slices.Collect(maps.Keys(found))
}

// signal signals through a handle whose process is checked once it is open.
func (s *strays) signal(all []child, sig syscall.Signal) {
	for _, c := range all {
		p, err := os.FindProcess(c.pid)
		if err != nil {
			continue
		}
		if st, ok := statOf(c.pid); ok && st.start == c.start {
			_ = p.Signal(sig)
		}
		_ = p.Release()
	}
}
