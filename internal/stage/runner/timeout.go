package runner

import "time"

// timeout is how long a checkpoint waits: its limit, on a machine that gets
// round to everything. Where processes wait for a processor most of the time, a
// server that is on its way out is not one that stays: the wait is stretched,
// up to mostStretch times, as long as that goes on.
type timeout struct {
	begun   time.Time
	limit   time.Duration
	stalled func() (time.Duration, bool)
	before  time.Duration
}

const (
	mostStretch = 4
	// starved is the share of the time in which somebody waits for a processor
	// from which on the machine counts as starved. A busy but sufficient one
	// stays well below.
	starved = 0.6
)

func newTimeout(limit time.Duration) *timeout {
	p := &timeout{begun: time.Now(), limit: limit, stalled: cpuStalled}
	p.before, _ = p.stalled()
	return p
}

// left is how much longer to wait; 0 or less is the end.
func (p *timeout) left(now time.Time) time.Duration {
	waited := now.Sub(p.begun)
	if left := p.limit - waited; left > 0 {
		return left
	}
	if waited >= mostStretch*p.limit {
		return 0
	}
	stalled, known := p.stalled()
	if !known || float64(stalled-p.before) < starved*float64(waited) {
		return 0
	}
	return max(p.limit/10, time.Millisecond)
}
