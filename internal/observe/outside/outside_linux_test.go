package outside

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestWhoSent: what this process has started, and what that has, is of the run; the rest is outside of it.
func TestWhoSent(t *testing.T) {
	t.Parallel()
	s, later := &Signals{family: map[int]bool{100: true}}, &Signals{family: map[int]bool{100: true}}
	tr := &trace{ready: make(chan struct{}), shown: true, watching: map[*Signals]bool{s: true}}
	for i, line := range []string{
		"            host-100     [001] d..2.   12.5: sched_process_fork: comm=host pid=100 child_comm=a -1 [0]: x pid=3 child_pid=101",
		"            host-101     [001] d..2.   12.6: sched_process_fork: comm=host pid=101 child_comm=host child_pid=102",
		"            host-102     [001] d..1.   12.7: signal_generate: sig=9 errno=0 code=0 comm=server pid=500 grp=1 res=0",
		"        earlyoom-7       [000] d..1.   12.8: signal_generate: sig=15 errno=0 code=0 comm=a pid=1 grp=1 b pid=501 grp=1 res=0",
		"   a-b [x]: y-8          [000] .....   12.9: signal_generate: sig=9 errno=0 code=0 comm=server pid=502 grp=1 res=0",
		"CPU:3 [LOST 12 EVENTS]", "",
	} {
		if i == 2 { // it watches from here on: what was started before is none of its own
			tr.watching[later] = true
		}
		tr.take(line)
	}
	assert.Equal(t, []Signal{
		{Signal: syscall.SIGTERM, To: 501, From: 7, Comm: "earlyoom"}, {Signal: syscall.SIGKILL, To: 502, From: 8, Comm: "a-b [x]: y"},
	}, s.unsaid)
	assert.Len(t, later.unsaid, 3, "the host's, too")
	for _, line := range []string{ // the number is above any that a process has
		"            host-102     [000] d..2.   13.0: sched_process_fork: comm=host pid=102 child_comm=host child_pid=5000000",
		"            cron-7       [000] d..2.   13.1: sched_process_fork: comm=cron pid=7 child_comm=cron child_pid=5000000",
		"            cron-5000000 [000] d..1.   13.2: signal_generate: sig=9 errno=0 code=0 comm=server pid=503 grp=1 res=0",
	} {
		tr.take(line)
	}
	assert.Len(t, s.unsaid, 3, "the number of a process of the run that has ended is a stranger's now")
	s.family[os.Getpid()] = true
	s.born(7, os.Getpid())
	assert.True(t, s.family[os.Getpid()], "a thread of this process that one has started which has ended")
}

// TestOwnSignal: a trace is ready when it shows a signal that this process has sent to itself, and tells nothing before.
func TestOwnSignal(t *testing.T) {
	t.Parallel()
	s := &Signals{family: map[int]bool{100: true}}
	tr := &trace{ready: make(chan struct{}), watching: map[*Signals]bool{s: true}}
	isReady := func() bool {
		select {
		case <-tr.ready:
			return true
		default:
			return false
		}
	}
	tr.take("x-9 [000] .....   13: signal_generate: sig=9 errno=0 code=0 comm=me pid=500 grp=1 res=0")
	assert.Empty(t, s.unsaid)
	tr.take(fmt.Sprintf("x-9 [000] .....   13: signal_generate: sig=18 errno=0 code=0 comm=me pid=%d grp=1 res=0", os.Getpid()))
	assert.False(t, isReady(), "from another one")
	tr.take("x-100 [000] .....   13: signal_generate: sig=18 errno=0 code=0 comm=me pid=1 grp=1 res=0")
	assert.False(t, isReady(), "to another one")
	for range 2 {
		tr.take(fmt.Sprintf("x-100 [000] .....   13: signal_generate: sig=18 errno=0 code=0 comm=me pid=%d grp=1 res=0", os.Getpid()))
		assert.True(t, isReady())
	}
}

// TestHeldLock: a process that holds the lock, and does nothing, holds no run up. The lock is not that of this machine's tracefs: others who
// begin a run meanwhile would go without.
func TestHeldLock(t *testing.T) {
	t.Parallel()
	var holder, tr trace
	var err error
	dir := t.TempDir()
	for _, of := range []*trace{&holder, &tr} {
		of.parent, err = os.Open(dir)
		require.NoError(t, err)
		defer of.parent.Close()
	}
	require.NoError(t, holder.lock())
	failed := make(chan error, 1)
	go func() { failed <- tr.lock() }()
	select {
	case err := <-failed:
		require.ErrorContains(t, err, "not traced: another process holds the lock of "+dir)
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the lock")
	}
	require.NoError(t, unix.Flock(int(holder.parent.Fd()), unix.LOCK_UN))
	require.NoError(t, tr.lock(), "it has let go")
}

// TestOOMKillsOfBefore are nobody's of this run. A real one is in the tests of the runner.
func TestOOMKillsOfBefore(t *testing.T) {
	t.Parallel()
	var o OOM
	defer o.Close()
	assert.False(t, o.Killed(1))
	if !o.known {
		t.Skip("/proc/vmstat does not count them here")
	}
	o.last--
	assert.True(t, o.Killed(1), "one that the kernel does not name")
	o.named[7] = true
	assert.True(t, o.Killed(7))
	assert.False(t, o.Killed(1))
}

// TestKilledBy: only the kernel's own words count.
func TestKilledBy(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		"3,24911,42571854113,-;Out of memory: Killed process 9829 (host.test) total-vm:2594820kB\n":                                     9829,
		"3,24,45603747459,-;Memory cgroup out of memory: Killed process 21333 (a) b;Out of memory: Killed process 1 (x) total-vm:1kB\n": 21333,
		"3,24,45603747459,-,caller=T1;Out of memory (oom_kill_allocating_task): Killed process 12 (sh) total-vm:1kB\n":                  12,
		"11,24911,42571854113,-;Out of memory: Killed process 9829 (written by a program) total-vm:1kB\n":                               0,
		"6,24910,42571854051,-;oom-kill:constraint=CONSTRAINT_NONE,task=Out of memory: Killed process 3 (,pid=9829,uid=0\n":             0,
		"6,1,2,-;something: Out of memory: Killed process 3 (x)\n":                                                                      0,
	} {
		pid, ok := killedBy(line)
		assert.Equal(t, want, pid, line)
		assert.Equal(t, want != 0, ok, line)
	}
}
