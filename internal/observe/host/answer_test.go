package host

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func TestAStepTakesHalfAMinute(t *testing.T) {
	t.Parallel()
	const s = record.Duration(time.Second)
	r := &run{terms: terms{limits: record.Limits{Close: 15 * s, Confirm: 10 * s}}}
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

func TestAnOpenThatNobodyHasGivenUp(t *testing.T) {
	t.Parallel()
	no := errors.Join(errNoAnswer)
	assert.True(t, mayYetOpen(scenarios.Step{}, no))
	assert.False(t, mayYetOpen(scenarios.Step{}, errors.New("refused")))
	assert.False(t, mayYetOpen(scenarios.Step{Timeout: 1}, no), "the host was given a limit")
	assert.False(t, mayYetOpen(scenarios.Step{Cancel: true}, no))
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

// TestACloseBesideOpens: one that comes back has ended no session that was opened since, also where that open is over by then. It has
// ended one that was being opened before.
func TestACloseBesideOpens(t *testing.T) {
	t.Parallel()
	var o opens
	closed := func(change int) (wrote bool) {
		o.unlessSince("s", change, func() { wrote = true })
		return wrote
	}
	assert.True(t, closed(1), "nobody has opened it")
	o.begin("s", func() int { return 2 })
	assert.True(t, closed(3), "it was asked to end after that")
	assert.False(t, closed(1))
	o.begin("s", func() int { return 4 })
	o.end("s", func(beside int) { assert.Equal(t, 1, beside) })
	assert.False(t, closed(3))
	o.end("s", func(beside int) { assert.Zero(t, beside) })
	assert.False(t, closed(3), "that open is over, and has said what became of it")
	assert.True(t, closed(5))
}

// TestASurpriseIsKept, cut short: of a step that was to fail alone.
func TestASurpriseIsKept(t *testing.T) {
	t.Parallel()
	step := record.Step{Expect: record.ExpectFail}
	text := driver.Response{OK: true, Result: json.RawMessage(`"all is well"`)}
	assert.Equal(t, "all is well", surprise(&step, text))
	assert.Equal(t, `["echo"]`, surprise(&step, driver.Response{OK: true, Result: json.RawMessage(`["echo"]`)}), "a list")
	assert.Empty(t, surprise(&step, driver.Response{OK: true}), "an open has no result")
	assert.Empty(t, surprise(&step, driver.Response{Result: text.Result}), "it failed")
	long := driver.Response{OK: true, Result: json.RawMessage(`"` + strings.Repeat("a", 1000) + `"`)}
	assert.Equal(t, strings.Repeat("a", maxAnswer)+"...", surprise(&step, long))
	step.Expect = record.ExpectAny
	assert.Empty(t, surprise(&step, text))
}
