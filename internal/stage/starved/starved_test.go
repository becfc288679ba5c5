package starved

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

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

	cp := record.Checkpoint{}
	d := with(200*ms, 800*ms, 0)
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
