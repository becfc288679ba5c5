package progress

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// play tells of steps that have ended and of faults of a server that is gone, until there are so many.
func play(l *Line, steps, faults int) {
	for l.seen.done < steps {
		l.Event(record.Event{Kind: record.StepEnded, Step: &record.Step{N: l.seen.done + 1, Op: record.OpCall}})
	}
	if l.seen.spawned == 0 {
		l.Event(record.Event{Kind: record.Born, Server: "a#1", Birth: &record.Birth{Label: "a", Launch: 1}})
		l.Event(record.Event{Kind: record.Died, Server: "a#1"})
	}
	for l.seen.faults < faults {
		l.Event(record.Event{Kind: record.Faulted, Server: "a#1", Fault: &record.Fault{On: "call", Do: "exit"}})
	}
}

func TestLineTellsWhatIsLeftAndKeepsItsWidth(t *testing.T) {
	t.Parallel()
	l := &Line{p: Params{Scenario: "storm", Host: "naive", Steps: 86, Width: 80, Mode: Live}, begun: time.Now(), seen: newTally()}
	play(l, 43, 9)
	l.doing = "call calm echo"
	assert.Equal(t, "storm on naive █████░░░░░ 43/86  live 0  faults 9  4.0 s, ~4 s left  call calm…", l.line(4*time.Second))
	for columns := 20; columns < 220; columns += 7 {
		l.p.Width = columns
		assert.LessOrEqual(t, utf8.RuneCountInString(l.line(4*time.Second)), columns)
	}
	l.p.Scenario = "日本語の嵐"
	for columns := 20; columns < 120; columns++ {
		l.p.Width = columns
		assert.LessOrEqual(t, text.Width(l.line(4*time.Second)), columns)
	}
	l.p.Scenario, l.p.Width = "storm", 100
	play(l, 80, 9)
	assert.NotContains(t, l.line(4*time.Second), "left", "less than a second")

	l.begun = time.Now().Add(-3 * time.Second)
	l.Event(record.Event{Kind: record.CheckpointBegun, Checkpoint: &record.Checkpoint{Name: "after"}})
	l.Event(record.Event{Kind: record.HostReady, Hello: &record.Hello{Limits: &record.Limits{Settle: record.Duration(15 * time.Second), Confirm: record.Duration(10 * time.Second)}}})
	assert.Contains(t, l.line(l.since+2*time.Second), "s, <23 s left at checkpoint after", "how long a host cleans up is not known before")
	l.p.Host, l.p.Width = "naive", 80
	play(l, 85, 21)
	assert.Contains(t, l.line(l.since+9*time.Second), "<16 s left at", "also where the name has no room")
	assert.Contains(t, l.line(l.since+time.Hour), "<0 s left", "on a machine that is too busy to look")
	l.Event(record.Event{Kind: record.CheckpointEnded, Checkpoint: &record.Checkpoint{Name: "after"}})
	assert.NotContains(t, l.line(9*time.Second), " at checkpoint ")
}
