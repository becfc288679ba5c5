// Package starved says how long to wait on a machine that does not get round to everything: where the bench itself waits
// for a processor most of the time, what is late is not what stays.
package starved

import (
	"runtime"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Deadline is how long a checkpoint waits: its limit, on a machine that gets round to everything. Where the bench
// itself waits for a processor most of the time that it wants one, a server that is on its way out is not one that
// stays: the wait is stretched, up to mostStretch times, as long as that goes on. What was seen in the stretched part
// is for the judge to say: it is in the file how long that was, and how starved the bench.
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
	if waited >= mostStretch*d.Limit || share < starvedShare {
		return 0
	}
	d.starved = max(d.starved, share)
	return max(d.Limit/10, time.Millisecond)
}

// starvation is the share of the time in which the bench wanted a processor and
// had to wait for one; 0 where that was a moment only, or the run's own doing.
func (d *Deadline) starvation(now time.Time) float64 {
	delayed, ran := d.last.Delayed-d.first.Delayed, d.last.Ran-d.first.Ran
	own, all := d.last.Own-d.first.Own, float64(now.Sub(d.begun))*float64(runtime.NumCPU())
	if float64(delayed) < leastDelay*float64(now.Sub(d.begun)) || float64(own) > ownShare*all {
		return 0
	}
	return float64(delayed) / float64(delayed+ran)
}

// Note adds to a checkpoint how far a wait went beyond its limit.
func (d *Deadline) Note(cp *record.Checkpoint, now time.Time) {
	if over := now.Sub(d.begun) - d.Limit; over > 0 && d.starved > 0 {
		cp.Stretched += record.Duration(over)
		cp.Starved = max(cp.Starved, d.starved)
	}
}

// LoadAt is what the bench and the processes of a census have had so far.
func LoadAt(c *record.Census) *record.Load {
	l := benchLoad()
	for i := range c.Processes {
		l.Own += c.Processes[i].CPU
	}
	if c.Host != nil {
		l.Own += c.Host.CPU
	}
	return &l
}
