package outside

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhoSent: what this process has started, and what that has, is of the run; the rest is outside of it.
func TestWhoSent(t *testing.T) {
	t.Parallel()
	var got, late []Signal
	s := &Signals{sent: func(s Signal) { got = append(got, s) }, family: map[int]bool{100: true}}
	later := &Signals{sent: func(s Signal) { late = append(late, s) }, family: map[int]bool{100: true}}
	tr := &trace{ready: make(chan struct{}), own: &Signals{}, watching: map[*Signals]bool{s: true}}
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
	}, got)
	assert.Len(t, late, 3, "the host's, too")
	tr.take("x-9 [000] .....   13: signal_generate: sig=18 errno=0 code=0 comm=me pid=500 grp=1 res=0")
	select {
	case <-tr.ready:
		t.Error("that was another one's")
	default:
	}
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
