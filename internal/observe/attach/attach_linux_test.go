package attach_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// shell runs a script whose stdin stays open, and returns it once it says ready.
func shell(t *testing.T, script string) (*exec.Cmd, io.WriteCloser) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.WaitDelay = 10 * time.Second
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return cmd, in
}

// seen is what a run has written down, and its looks.
type seen struct {
	events []record.Event
	looks  []attach.Look
}

// attached watches a process until done says so.
func attached(t *testing.T, pid int, done func(*seen) bool) *seen {
	t.Helper()
	id, err := proc.Identify(pid)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	s := &seen{}
	err = attach.Run(ctx, attach.Params{
		Host: id, Every: 20 * time.Millisecond,
		Add: func(e record.Event) error {
			require.NoError(t, e.Check())
			s.events = append(s.events, e)
			return nil
		},
		OnLook: func(l attach.Look) {
			s.looks = append(s.looks, l)
			if done(s) {
				cancel()
			}
		},
	}, 50*time.Millisecond)
	require.NoError(t, err)
	require.NotErrorIs(t, ctx.Err(), context.DeadlineExceeded, "it was seen in time")
	return s
}

func (s *seen) last() attach.Look { return s.looks[len(s.looks)-1] }

// fact is the fact of the first process of a name below the host.
func fact(l attach.Look, comm string) (attach.Fact, bool) {
	i := slices.IndexFunc(l.Census.Processes, func(p record.Process) bool { return p.Comm == comm })
	if i < 0 {
		return attach.Fact{}, false
	}
	f, ok := l.Facts[l.Census.Processes[i].Identity]
	return f, ok
}

func TestWhoHoldsTheStdinOfAChild(t *testing.T) {
	t.Parallel()
	host, _ := shell(t, `exec 9> >(exec cat >/dev/null); echo ready; read -r`)
	s := attached(t, host.Process.Pid, func(s *seen) bool {
		l := s.last()
		f, ok := fact(l, "cat")
		return ok && !f.Held.IsZero() && f.Evidence.Syscall == "read(0)" && f.Evidence.Idle != nil
	})
	l := s.last()
	f, _ := fact(l, "cat")
	require.NotEmpty(t, f.Evidence.Descriptors)
	stdin := f.Evidence.Descriptors[0]
	assert.True(t, stdin.Known)
	require.Len(t, stdin.Holders, 1)
	assert.Equal(t, host.Process.Pid, stdin.Holders[0].PID)
	assert.Equal(t, 9, stdin.Holders[0].FD)
	assert.Contains(t, f.Evidence.Wchan, "pipe_read")
	assert.NotEmpty(t, f.Evidence.Cgroup)
	assert.Less(t, f.Evidence.Idle.D(), f.Evidence.Age.D()+time.Second)
	assert.Equal(t, record.HostStarted, s.events[0].Kind)
	assert.Equal(t, record.CensusTaken, s.events[1].Kind)
	written := s.events[len(s.events)-1].Evidence
	at := slices.IndexFunc(written, func(e record.Evidence) bool { return e.Identity == f.Evidence.Identity })
	require.GreaterOrEqual(t, at, 0)
	require.NotNil(t, written[at].ReadAgo)
	assert.Equal(t, f.Evidence.Age, written[at].Age-*written[at].ReadAgo, "when it was read is written down, too")
	assert.Greater(t, written[at].Age, f.Evidence.Age)
	assert.Equal(t, f.Evidence.IO, written[at].IO)
	assert.NotNil(t, written[at].IO, "and what it had read and written by then")
}

// What a child reads is seen to grow, and how long it is idle begins anew.
func TestTraffic(t *testing.T) {
	t.Parallel()
	host, in := shell(t, `exec 9> >(exec cat >/dev/null); echo ready; while read -r line; do echo "$line" >&9; done`)
	var first, before int64 = -1, -1
	s := attached(t, host.Process.Pid, func(s *seen) bool {
		l := s.last()
		i := slices.IndexFunc(l.Census.Processes, func(p record.Process) bool { return p.Comm == "cat" && p.IO != nil })
		f, ok := fact(l, "cat")
		if i < 0 || !ok || f.Evidence.Syscall != "read(0)" {
			return false
		}
		read := l.Census.Processes[i].IO.Read
		if first < 0 && read != before { // it may have been at its start when that was read
			before = read
			return false
		}
		if first < 0 {
			first = read
			_, err := io.WriteString(in, strings.Repeat("x", 999)+"\n")
			require.NoError(t, err)
		}
		return read == first+1000
	})
	assert.NotEmpty(t, s.looks)
}

// What the threads of a server wake one another with is no traffic: node and others do so while nobody uses them.
func TestWakesAreNoTraffic(t *testing.T) {
	t.Parallel()
	host, in := shell(t, fmt.Sprintf(`exec 9> >(exec env %s=wakes %s); read -rt 30 line; while read -r line; do echo "$line" >&9; done`, partEnv, program))
	first, told := record.IO{}, false
	raw := func(pid int) (n int64) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
		_, _ = fmt.Sscanf(string(text), "rchar: %d", &n)
		return n
	}
	var begun int64
	attached(t, host.Process.Pid, func(s *seen) bool {
		l := s.last()
		i := slices.IndexFunc(l.Census.Processes, func(p record.Process) bool { return p.Comm == "attach.test" && p.IO != nil })
		if i < 0 {
			return false
		}
		row := &l.Census.Processes[i]
		switch {
		case first == record.IO{} || !told && *row.IO != first: // its runtime comes up
			first, begun = *row.IO, raw(row.PID)
		case !told && raw(row.PID) > begun+4000:
			told = true
			_, err := io.WriteString(in, "\n"+strings.Repeat("x", 999)+"\n")
			require.NoError(t, err)
		}
		return told && row.IO.Read >= first.Read+1000
	})
}

// A process that the host lets go of is followed to its new parent.
func TestOrphansAreFollowed(t *testing.T) {
	t.Parallel()
	host, in := shell(t, `bash -c 'sleep 1001 & wait' >/dev/null 2>&1 & echo ready; read -r; kill $!; wait; read -r`)
	asked := false
	var orphan record.Process
	attached(t, host.Process.Pid, func(s *seen) bool {
		l := s.last()
		i := slices.IndexFunc(l.Census.Processes, func(p record.Process) bool { return p.Comm == "sleep" })
		if i < 0 {
			return false
		}
		if !asked {
			asked, orphan = true, l.Census.Processes[i]
			_, err := io.WriteString(in, "now\n")
			require.NoError(t, err)
		}
		return l.Census.Processes[i].PPID != orphan.PPID
	})
	require.NoError(t, proc.Signal(orphan.Identity, 9))
}

func TestTheHostEnds(t *testing.T) {
	t.Parallel()
	host, in := shell(t, `sleep 1000 </dev/null >/dev/null 2>&1 & echo ready; read -r`)
	asked := false
	s := attached(t, host.Process.Pid, func(s *seen) bool {
		l := s.last()
		if _, ok := fact(l, "sleep"); ok && !asked {
			asked = true
			go func() { _, _ = io.WriteString(in, "end\n"); _ = host.Wait() }()
		}
		return false
	})
	at := slices.IndexFunc(s.events, func(e record.Event) bool { return e.Kind == record.HostExited })
	require.Positive(t, at)
	last := s.events[len(s.events)-1]
	require.Equal(t, record.EvidenceTaken, last.Kind)
	require.Len(t, last.Evidence, 1)
	assert.Equal(t, "sleep", last.Evidence[0].Comm)
	require.NoError(t, proc.Signal(last.Evidence[0].Identity, 9))
}

func TestFind(t *testing.T) {
	t.Parallel()
	host, _ := shell(t, `echo ready; read -r`)
	found, err := attach.Find(strconv.Itoa(host.Process.Pid))
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, host.Process.Pid, found[0].PID)
	_, err = attach.Find("999999999")
	require.ErrorContains(t, err, "process 999999999: no such process")
	_, err = attach.Find("nobody-is-called-this")
	require.ErrorContains(t, err, "no process is called nobody-is-called-this")
	script := t.TempDir() + "/my-host.sh"
	require.NoError(t, os.WriteFile(script, []byte("echo ready; read -r; true"), 0o600))
	named, _ := shell(t, "exec bash "+script)
	for _, name := range []string{"my-host.sh", "my-host"} {
		found, err = attach.Find(name)
		require.NoError(t, err)
		require.Len(t, found, 1)
		assert.Equal(t, named.Process.Pid, found[0].PID)
	}
}

// What launches no server, or is nobody, is refused before anything is watched.
func TestFindRefuses(t *testing.T) {
	t.Parallel()
	for _, pid := range []string{"0", "-1", "999999999", "99999999999999999999"} {
		_, err := attach.Find(pid)
		require.ErrorContains(t, err, "no such process", pid)
		assert.NotContains(t, err.Error(), "hidepid", pid)
	}
	if name, err := os.ReadFile("/proc/2/comm"); err != nil || string(name) != "kthreadd\n" {
		t.Skip("no thread of the kernel can be seen here")
	}
	_, err := attach.Find("2")
	require.ErrorContains(t, err, "a thread of the kernel")
}

// A leakbench that the host has started, as a shell starts leakbench, is none of the host's processes.
func TestItWatchesItselfNot(t *testing.T) {
	t.Parallel()
	parent, err := proc.Identify(os.Getppid())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := false
	require.NoError(t, attach.Run(ctx, attach.Params{
		Host: parent, Every: 50 * time.Millisecond, Add: func(record.Event) error { return nil },
		OnLook: func(l attach.Look) {
			seen = true
			for i := range l.Census.Processes {
				assert.NotEqual(t, os.Getpid(), l.Census.Processes[i].PID)
			}
			cancel()
		},
	}, 0))
	assert.True(t, seen)
}

// TestPidfds: a pidfd of a child that runs is told apart from one of a child that was waited for. Those of others count as neither.
func TestPidfds(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed: it opens pidfds")
	}
	cmd := exec.CommandContext(t.Context(), "python3", "-uc", `
import os, subprocess, sys
os.closerange(3, 256) # what the tests themselves have inherited is no pipe of this host
if not hasattr(os, "pidfd_open"): sys.exit("old")
runs = [subprocess.Popen(["cat"], stdin=subprocess.PIPE) for _ in range(3)]
gone = [subprocess.Popen(["true"]) for _ in range(2)]
kept = [os.pidfd_open(p.pid) for p in runs + gone] + [os.pidfd_open(os.getpid()), os.pidfd_open(os.getppid())]
for p in gone: p.wait()
print("ready")
sys.stdin.read()`)
	cmd.WaitDelay = 10 * time.Second
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Skip("this python3 or this kernel has no pidfd_open")
	}
	var handles *record.Handles
	want := record.Handles{PIDFDs: 2, Living: 3}
	attached(t, cmd.Process.Pid, func(s *seen) bool { // a look in the middle of an execve(2) may miss who holds a pipe
		for i := range s.events {
			for k := range s.events[i].Evidence {
				if h := s.events[i].Evidence[k].Handles; h != nil {
					handles = h
				}
			}
		}
		return handles != nil && *handles == want
	})
	assert.Equal(t, &want, handles)
}
