package breach_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

const second = int64(time.Second)

// starved is a run whose processes had to wait for a processor for some seconds of ten.
func starved(seconds int64) *record.Run {
	run := &record.Run{Header: record.Header{ID: "r"}}
	for _, at := range []int64{0, 10 * second} {
		waited := record.Duration(at / 10 * seconds)
		run.Events = append(run.Events, record.Event{T: at, Kind: record.CensusTaken, Census: &record.Census{
			Role: record.CensusSample, Load: &record.Load{Waited: &waited},
		}})
	}
	return run
}

// TestLate: what took too long is a breach, and none where the processes had to wait for a processor for as long as that.
func TestLate(t *testing.T) {
	t.Parallel()
	for waited, broken := range map[int64]bool{0: true, 9: false} {
		b := &breach.Book{Facts: facts.Of(starved(waited))}
		b.Late(&breach.Breach{Law: "L8"}, breach.Took{From: second, To: 9 * second, Limit: 3 * time.Second})
		assert.Equal(t, broken, b.Broke("L8"), waited)
		assert.Equal(t, !broken, b.IsUnsure("L8"), waited)
		assert.False(t, b.Broke("L1") || b.IsUnsure("L1"))
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 5*second, breach.Took{From: second, To: 9 * second, Limit: 3 * time.Second}.Over())
	assert.Zero(t, breach.Took{}.Over(), "it is not told")
}

// TestPrint: the cause has a fingerprint, not the process.
func TestPrint(t *testing.T) {
	t.Parallel()
	one := breach.Breach{Law: "L1", Kind: "superseded", Label: "flaky", Cause: record.CauseReconnect}
	other := one
	other.Value, other.At = "flaky#2", []int64{5}
	assert.Equal(t, one.Print(), other.Print())
	assert.Len(t, one.Print(), 12)
	other.Label = "other"
	assert.NotEqual(t, one.Print(), other.Print())
}

func TestSaw(t *testing.T) {
	t.Parallel()
	var b breach.Breach
	b.Saw(nil, record.Identity{PID: 7}, "npx", "s1", "still running", "3.0 MiB")
	assert.Contains(t, b.Value, "of session s1: still running, 3.0 MiB")
	assert.Equal(t, &breach.Row{Name: "npx", PID: 7, Session: "s1", Seen: []string{"still running", "3.0 MiB"}}, b.Row)
	s := &history.Server{ID: "flaky#2", Birth: record.Birth{Identity: record.Identity{PID: 8}}}
	b.SawServer(s, "", "gone")
	assert.Equal(t, &breach.Row{Name: "flaky#2", PID: 8, Seen: []string{"gone"}}, b.Row)
}

// TestWhy: the first reason counts.
func TestWhy(t *testing.T) {
	t.Parallel()
	all := []breach.Unjudged{{Law: "S1", Reason: "a"}, {Law: "S5", Reason: "b"}, {Law: "S5", Reason: "c"}}
	assert.Equal(t, "b", breach.Why(all, "S5"))
	assert.Empty(t, breach.Why(all, "S2"))
}
