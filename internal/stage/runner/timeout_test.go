package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPatience(t *testing.T) {
	t.Parallel()
	begun := time.Now()
	with := func(stalled time.Duration, known bool) *timeout {
		return &timeout{begun: begun, limit: time.Second, stalled: func() (time.Duration, bool) { return 5*time.Second + stalled, known }, before: 5 * time.Second}
	}
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	assert.Equal(t, 400*time.Millisecond, with(0, true).left(at(600*time.Millisecond)), "within the limit it does not matter")
	assert.Zero(t, with(500*time.Millisecond, true).left(at(time.Second)), "busy, but not starved")
	assert.Zero(t, with(time.Second, false).left(at(time.Second)), "not known")
	assert.Equal(t, 100*time.Millisecond, with(900*time.Millisecond, true).left(at(time.Second)), "starved")
	assert.Equal(t, 100*time.Millisecond, with(3*time.Second, true).left(at(3*time.Second)), "still")
	assert.Zero(t, with(time.Second, true).left(at(3*time.Second)), "no more")
	assert.Zero(t, with(9*time.Second, true).left(at(4*time.Second)), "not for ever")
}

func TestStallIsReadWhereTheKernelTellsIt(t *testing.T) {
	t.Parallel()
	before, known := cpuStalled()
	if !known {
		t.Skip("this kernel does not tell (no /proc/pressure/cpu)")
	}
	assert.Positive(t, before)
}
