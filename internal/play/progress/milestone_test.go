package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// A wait that was longer or shorter than its limit says why.
func TestMilestoneSaysWhyAWaitWasOdd(t *testing.T) {
	t.Parallel()
	const second = record.Duration(time.Second)
	for want, c := range map[string]record.Checkpoint{
		"  end: 0 live, 0 spawned, as expected after 1 s\n": {Quiet: true, Waited: second},
		"  end: 0 live, 0 spawned, as expected after 3 s (2 s longer than the limit, as processes had to wait for a processor)\n": {
			Quiet: true, Waited: 3 * second, Stretched: 2 * second,
		},
		"  end: 0 live, 0 spawned, unexpected state after 1 s (nobody was left who could change it)\n": {Waited: second, Early: record.EarlyFinal},
		"  end: 0 live, 0 spawned, unexpected state after 1 s (given up: this run is to be fast)\n":    {Waited: second, Stretched: second, Early: record.EarlyFast},
		"  end: 0 live, 0 spawned, unexpected state after 1 s (what is left was watched before)\n":     {Waited: second, Early: record.EarlyWaited},
	} {
		var out bytes.Buffer
		l := Start(Params{Out: &out, Mode: Plain, Scenario: "storm", Host: "exact"})
		c.Name = "end"
		l.Event(record.Event{Kind: record.CheckpointBegun, Checkpoint: &c})
		l.Event(record.Event{Kind: record.CheckpointEnded, Checkpoint: &c})
		l.Stop()
		assert.Equal(t, "storm on exact\n"+want, out.String())
	}
}

// What a checkpoint waits for is a line that stays, also on a terminal, above the line that is drawn again and again.
func TestAWaitIsALine(t *testing.T) {
	t.Parallel()
	for mode, begin := range map[Mode]string{Plain: "storm on exact\n  ", Live: "\r\x1b[K  "} {
		out := &lockedBuffer{}
		l := Start(Params{Out: out, Mode: mode, Scenario: "storm", Host: "exact"})
		l.Waiting("end", "still running after 2 s: a\x1b")
		assert.Eventually(t, func() bool { return strings.Contains(out.String(), begin+"end: still running after 2 s: a?\n") }, 10*time.Second, time.Millisecond)
		l.Stop()
	}
	var out bytes.Buffer
	l := Start(Params{Out: &out, Mode: None})
	l.Waiting("end", "still running")
	l.Stop()
	assert.Empty(t, out.String())
}

// lockedBuffer is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// The lines of what has ended stay, also those that came after the last picture of the bar.
func TestEndedLeavesItsLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := Count(&out, Live, 2)
	c.Ended("✓ storm 1.0 s", false, 1)
	c.Ended("✗ cron 2.0 s", true, 0)
	c.Stop()
	assert.Contains(t, out.String(), "✓ storm 1.0 s\n")
	assert.Contains(t, out.String(), "✗ cron 2.0 s\n")
	out.Reset()
	c = Count(&out, Plain, 1)
	c.Ended("✓ storm \x1b[31m1.0 s", false, 0)
	c.Stop()
	assert.Equal(t, "✓ storm ?[31m1.0 s\n", out.String())
}
