package patience

import (
	"runtime"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Deadline is how long a checkpoint waits: its limit, on a machine that gets round to everything. Where the processes of the run
// had to wait for a processor, a server that is on its way out is not one that stays: the wait is stretched by what they have
// waited meanwhile, and by how late the bench itself wakes up. No longer: what takes longer than that is nobody's doing but the
// host's. What was seen in the stretched part is for the judge to say: it is in the file how long that was, and how starved the
// bench.
//
// A host whose own processes take the processors buys nothing by it.
type Deadline struct {
	Limit       time.Duration
	begun       time.Time
	first, last record.Load
	starved     float64 // the most at which the wait was stretched; 0: it was not
}

const (
	mostStretch = 4
	// starvedShare of the time in which the bench wants a processor it waits for one, from which on it counts as starved, if that
	// is leastDelay of the whole time at least: the bench sleeps most of the time, and a few late awakenings slow nobody down.
	// They count where it is not known how long the processes of the run have waited.
	starvedShare = 0.6
	leastDelay   = 0.4
	// ownShare of all processors is what the processes of the run may take before they themselves are what starves the bench.
	ownShare = 0.4
)

// See takes in the load at a look, the first of which begins the wait.
func (d *Deadline) See(l record.Load) {
	if d.begun.IsZero() {
		d.begun, d.first = time.Now(), l
	}
	d.last = l
}

// Left is how much longer to wait; 0 or less is the end.
func (d *Deadline) Left(now time.Time) time.Duration {
	waited := now.Sub(d.begun)
	if left := d.Limit - waited; left > 0 {
		return left
	}
	share := d.starvation(now)
	if waited >= mostStretch*d.Limit || share == 0 || waited-d.Limit > d.excuse(now, share) {
		return 0
	}
	d.starved = max(d.starved, share)
	return max(d.Limit/10, time.Millisecond)
}

// excuse is by how much more than its limit the wait may be stretched so far.
func (d *Deadline) excuse(now time.Time, share float64) time.Duration {
	if excuse, known := d.last.Excuse(d.first, d.last.Late); known {
		return excuse.D()
	}
	if share < starvedShare || float64(d.last.Delayed-d.first.Delayed) < leastDelay*float64(now.Sub(d.begun)) {
		return -1
	}
	return mostStretch * d.Limit
}

// starvation is the share of the time in which the bench wanted a processor and
// had to wait for one; 0 where that was the run's own doing.
func (d *Deadline) starvation(now time.Time) float64 {
	delayed, ran := d.last.Delayed-d.first.Delayed, d.last.Ran-d.first.Ran
	own, all := d.last.Own-d.first.Own, float64(now.Sub(d.begun))*float64(runtime.NumCPU())
	if delayed == 0 || float64(own) > ownShare*all {
		return 0
	}
	return float64(delayed) / float64(delayed+ran)
}

// Keeps says that a time is within the limit.
func (d *Deadline) Keeps(t time.Time) bool { return t.Sub(d.begun) <= d.Limit }

// Note adds to a checkpoint how far a wait went beyond its limit.
func (d *Deadline) Note(cp *record.Checkpoint, now time.Time) {
	if over := now.Sub(d.begun) - d.Limit; over > 0 && d.starved > 0 {
		cp.Stretched += record.Duration(over)
		cp.Starved = max(cp.Starved, d.starved)
	}
}
