package patience

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

func TestDeadline(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	const ms = record.Duration(time.Millisecond)
	with := func(ran, delayed, own record.Duration) *Deadline {
		return &Deadline{
			begun: begun, Limit: time.Second, first: record.Load{Ran: 5 * ms, Delayed: 7 * ms, Own: 9 * ms},
			last: record.Load{Ran: 5*ms + ran, Delayed: 7*ms + delayed, Own: 9*ms + own},
		}
	}
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	assert.Equal(t, 400*time.Millisecond, with(0, 0, 0).Left(at(600*time.Millisecond)), "within the limit it does not matter")
	assert.Zero(t, with(20*ms, 20*ms, 0).Left(at(time.Second)), "busy, but not starved")
	assert.Zero(t, with(ms, 9*ms, 0).Left(at(time.Second)), "a moment only")
	assert.Equal(t, 100*time.Millisecond, with(200*ms, 800*ms, 0).Left(at(time.Second)), "starved")
	assert.Zero(t, with(2*ms, 90*ms, 0).Left(at(time.Second)), "a few late awakenings")
	assert.Equal(t, 100*time.Millisecond, with(500*ms, 2000*ms, 0).Left(at(3*time.Second)), "still")
	assert.Zero(t, with(500*ms, 2000*ms, 0).Left(at(4*time.Second)), "not for ever")
	own := record.Duration(time.Second) * record.Duration(runtime.NumCPU()) / 2
	assert.Zero(t, with(200*ms, 800*ms, own).Left(at(time.Second)), "the run's own processes take the processors")

	d := with(200*ms, 800*ms, 0)
	first, last := record.Duration(0), 300*ms
	d.first.Waited, d.last.Waited, d.last.Late = &first, &last, 10*ms
	assert.Equal(t, 100*time.Millisecond, d.Left(at(1300*time.Millisecond)), "its processes have waited as long")
	assert.Zero(t, d.Left(at(1400*time.Millisecond)), "and no longer, however starved the bench is")

	cp := record.Checkpoint{}
	d = with(200*ms, 800*ms, 0)
	d.Note(&cp, at(900*time.Millisecond))
	assert.Zero(t, cp, "within the limit")
	d.Note(&cp, at(1010*time.Millisecond))
	assert.Zero(t, cp, "not stretched: the last look took a moment")
	d.Left(at(time.Second))
	d.last = d.first // that it has got better since is no matter
	d.Note(&cp, at(1500*time.Millisecond))
	assert.Equal(t, record.Checkpoint{Stretched: 500 * ms, Starved: 0.8}, cp)
}

func TestLoadIsReadWhereTheKernelTellsIt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no schedstat here")
	}
	before := benchLoad()
	for begun := time.Now(); time.Since(begun) < 20*time.Millisecond; { // something to count
	}
	assert.Greater(t, benchLoad().Ran, before.Ran)
}

// TestWaiters: what waits for a processor is counted, but for what wants one all the time.
func TestWaiters(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no schedstat here")
	}
	l := Loads{waiters: map[record.Identity]waiter{}}
	me := record.Process{Identity: record.Identity{PID: os.Getpid(), Start: 1}, State: record.StateSleeping}
	load := l.At(&record.Census{Processes: []record.Process{me}})
	require.NotNil(t, load.Waited)
	waits := func(before waiter) record.Duration {
		before.seen = time.Now().Add(-3 * time.Second)
		l.waiters[me.Identity], l.waited = before, 0
		l.wait(&me, time.Now())
		return l.waited
	}
	assert.Positive(t, waits(waiter{}), "a census of 3 s ago knew nothing of it")
	me.CPU = record.Duration(4 * time.Second)
	assert.Zero(t, waits(waiter{}), "it spins")
	me.CPU = 0
	assert.Zero(t, waits(waiter{wanting: record.Duration(spinsFrom)}), "and is one that spins from then on")
	assert.Nil(t, l.At(&record.Census{Processes: slices.Repeat([]record.Process{me}, mostWaiters+1)}).Waited, "too many to ask each of them")
	assert.Nil(t, l.At(&record.Census{}).Waited, "and what they had waited is not known any more")
}

// TestQueued: a process that wants a processor and has had none since it was last seen has waited, though the kernel counts that later.
func TestQueued(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("there is no schedstat here")
	}
	sleeper := exec.CommandContext(t.Context(), "sleep", "60")
	sleeper.WaitDelay = time.Second
	require.NoError(t, sleeper.Start())
	t.Cleanup(func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	})
	stat := fmt.Sprintf("/proc/%d/stat", sleeper.Process.Pid)
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(stat)
		return err == nil && bytes.Contains(text, []byte("(sleep) S "))
	}, 20*time.Second, time.Millisecond)
	p := record.Process{Identity: record.Identity{PID: sleeper.Process.Pid, Start: 1}, State: record.StateRunning}
	ran, delayed, known := shareOf(p.PID)
	require.True(t, known)
	const s = record.Duration(time.Second)
	now := time.Now()
	counts := func(was waiter) (record.Duration, waiter) {
		was.seen = now.Add(-5 * time.Second)
		l := Loads{waiters: map[record.Identity]waiter{p.Identity: was}}
		l.wait(&p, now)
		return l.waited, l.waiters[p.Identity]
	}
	same := waiter{ran: ran, delayed: delayed, running: true}
	waited, is := counts(same)
	assert.Equal(t, 5*s, waited)
	assert.Equal(t, waiter{ran: ran, delayed: delayed, queued: 5 * s, running: true, seen: now}, is, "nobody knows that it spins")
	is.wanting = s
	waited, is = counts(is)
	assert.Equal(t, []record.Duration{5 * s, 10 * s, s}, []record.Duration{waited, is.queued, is.wanting}, "it still does")
	waited, _ = counts(waiter{ran: ran, delayed: delayed - 1, queued: 5 * s, running: true})
	assert.Zero(t, waited, "the kernel counts what was counted before")
	waited, _ = counts(waiter{ran: ran, delayed: delayed})
	assert.Zero(t, waited, "it may have slept until a moment ago")
	waited, _ = counts(waiter{ran: ran - 1, delayed: delayed, running: true})
	assert.Zero(t, waited, "it has had a processor")
	p.State = record.StateSleeping
	waited, _ = counts(same)
	assert.Zero(t, waited, "it wants none")
}
