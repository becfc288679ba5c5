package runner

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

func TestAStepTakesHalfAMinute(t *testing.T) {
	t.Parallel()
	const s = record.Duration(time.Second)
	r := &run{limits: record.Limits{Close: 15 * s, Confirm: 10 * s}}
	assert.Equal(t, 30*time.Second, r.stepLimit(0, 0))
	assert.Equal(t, 30*time.Second, r.stepLimit(s, 0))
	assert.Equal(t, 80*time.Second, r.stepLimit(40*s, 0))
	assert.Equal(t, 75*time.Second, r.stepLimit(0, time.Minute), "the step itself takes that long")
	assert.Equal(t, 30*time.Second, r.stepLimit(s, time.Minute), "the host gives it up")
	r.limits.Confirm = 60 * s
	assert.Equal(t, 75*time.Second, r.stepLimit(0, 0), "the host's own requests take that long")
	r.limits = record.Limits{Close: 20 * s}
	assert.Equal(t, 35*time.Second, r.stepLimit(0, 0))
	assert.Equal(t, 1500*time.Millisecond, sleeps("sleep", map[string]any{"ms": 1500}))
	assert.Equal(t, time.Second, sleeps("sleep", map[string]any{"ms": 1000.0}))
	assert.Zero(t, sleeps("echo", map[string]any{"ms": 1500}))
	assert.Zero(t, sleeps("sleep", nil))
}

func TestTheFirstStepThatCantSucceedEndsThePlay(t *testing.T) {
	t.Parallel()
	no := errors.Join(errNoAnswer)
	for _, c := range []struct {
		step record.Step
		err  error
		ends int // after how many of them
	}{
		{record.Step{Op: record.OpCall}, no, 1},
		{record.Step{Op: record.OpOpen, Expect: record.ExpectOK}, no, 1},
		{record.Step{Op: record.OpClose}, no, 2},
		{record.Step{Op: record.OpForget}, no, 2},
		{record.Step{Op: record.OpCall, Expect: record.ExpectAny}, no, 0},
		{record.Step{Op: record.OpOpen, Expect: record.ExpectFail}, no, 0},
		{record.Step{Op: record.OpCall, Limit: 1}, no, 0}, // L8 tells of it
		{record.Step{Op: record.OpCall}, errors.New("refused"), 0},
		{record.Step{Op: record.OpCall}, nil, 0},
	} {
		r := &run{}
		ended := 0
		for n := 1; n <= 3; n++ {
			r.countUnanswered(c.step, c.err)
			if r.hasGivenUp() && ended == 0 {
				ended = n
			}
		}
		assert.Equal(t, c.ends, ended, "%+v %v", c.step, c.err)
	}
}

// TestReopens: a close that comes back has ended no session that is being opened since.
func TestReopens(t *testing.T) {
	t.Parallel()
	r := &run{sessions: map[string]*session{}, opens: map[string]int{}}
	assert.False(t, r.reopens("s"), "nobody knows it")
	r.opening("s", 1)
	for state, want := range map[record.SessionState]bool{record.SessionEnding: false, record.SessionOpening: true, record.SessionOpen: false} {
		r.sessions["s"] = &session{state: state}
		assert.Equal(t, want, r.reopens("s"), state)
	}
	r.sessions["s"] = &session{state: record.SessionOpening}
	assert.Zero(t, r.opening("s", -1))
	assert.False(t, r.reopens("s"), "that open is over")
}
