package progress

import (
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/life"
	"github.com/leakbench/leakbench/internal/record"
)

func TestLineTellsWhatIsLeftAndKeepsItsWidth(t *testing.T) {
	t.Parallel()
	l := &Line{p: Params{Scenario: "storm", Host: "naive", Steps: 86, Width: 80, Mode: Live}, begun: time.Now(), lives: life.New(), done: 43, faults: 9, doing: "call calm echo"}
	assert.Equal(t, "storm on naive █████░░░░░ 43/86  live 0  faults 9  4.0s, ~4s left  call calm ec…", l.line(4*time.Second))
	for columns := 20; columns < 220; columns += 7 {
		l.p.Width = columns
		assert.LessOrEqual(t, utf8.RuneCountInString(l.line(4*time.Second)), columns)
	}
	l.p.Width, l.done = 100, 80
	assert.NotContains(t, l.line(4*time.Second), "left", "less than a second")

	l.begun = time.Now().Add(-3 * time.Second)
	l.Event(record.Event{Kind: record.CheckpointBegun, Checkpoint: &record.Checkpoint{Name: "after"}})
	assert.Contains(t, l.line(l.since+2*time.Second), "s  checkpoint for 2.0s: after", "how long a host cleans up is not known before")
	l.p.Host, l.p.Width, l.done, l.faults = "naive", 80, 85, 21
	assert.Contains(t, l.line(l.since+9*time.Second), "checkpoint for 9.0s", "also where the name has no room")
	l.Event(record.Event{Kind: record.CheckpointEnded, Checkpoint: &record.Checkpoint{Name: "after"}})
	assert.NotContains(t, l.line(9*time.Second), " for ")
}
