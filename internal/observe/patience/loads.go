package patience

import (
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	// canaryPause is how often it is tried how late the bench wakes up.
	canaryPause = 20 * time.Millisecond
	// lateFor is how long the latest awakening counts at least.
	lateFor = 500 * time.Millisecond
	// mostWaiters is the most processes whose waiting time is read. To read more would take the time that it measures.
	mostWaiters = 64
	// spinsFrom is how long a process may want a processor all the time before it is one that spins: it has nobody wait.
	spinsFrom = 2 * time.Second
)

// Loads measures what the run had of the processors, and what it wanted and had not.
type Loads struct {
	mu      sync.Mutex
	waiters map[record.Identity]waiter
	waited  record.Duration
	blind   bool // how long the processes of the run have waited is not known

	late, lateBefore time.Duration // the latest awakening of this lateFor, and of the one before
	turned           time.Time
}

// waiter is a process of the run.
type waiter struct {
	ran, delayed, cpu, wanting record.Duration
	queued                     record.Duration // counted of a wait that was not over when it was seen
	running                    bool            // it ran then, or wanted to
	seen                       time.Time
}

// At is what the bench and the processes of a census have had so far.
func (l *Loads) At(c *record.Census) *record.Load {
	load := benchLoad()
	rows := c.Processes
	if c.Host != nil {
		load.Own += c.Host.CPU
		rows = append(rows[:len(rows):len(rows)], *c.Host)
	}
	for i := range c.Processes {
		load.Own += c.Processes[i].CPU
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	load.Late = record.Duration(max(l.late, l.lateBefore))
	l.blind = l.blind || len(rows) > mostWaiters
	for i := range rows {
		if p := &rows[i]; !l.blind && p.State != record.StateZombie {
			l.wait(p, time.Now())
		}
	}
	if !l.blind {
		waited := l.waited
		load.Waited = &waited
	}
	return &load
}

// wait adds what a process has waited since it was last seen. One that spins is left out. One that wanted a processor then, still wants
// one, and has had none has waited all the time.
func (l *Loads) wait(p *record.Process, now time.Time) {
	ran, delayed, known := shareOf(p.PID)
	if !known {
		l.blind = l.blind || !gone(p.PID)
		return
	}
	was, seen := l.waiters[p.Identity]
	is := waiter{ran: ran, delayed: max(delayed, was.delayed), cpu: p.CPU, running: p.State == record.StateRunning, seen: now}
	if seen {
		more, passed := is.delayed-was.delayed, record.Duration(now.Sub(was.seen))
		queued := more == 0 && ran == was.ran && was.running && is.running
		if wants := more + is.cpu - was.cpu; wants > passed*9/10 {
			is.wanting = was.wanting + passed
		}
		if more -= min(more, was.queued); queued {
			more, is.queued, is.wanting = passed, was.queued+passed, was.wanting
		}
		if was.wanting >= record.Duration(spinsFrom) {
			is.wanting = was.wanting
		}
		delayed = more
	}
	if is.wanting < record.Duration(spinsFrom) {
		l.waited += delayed
	}
	if l.waiters == nil {
		l.waiters = map[record.Identity]waiter{}
	}
	l.waiters[p.Identity] = is
}

// Listen has a canary sleep, until over is closed, and takes down by how much it oversleeps.
func (l *Loads) Listen(over <-chan struct{}) {
	for {
		begun := time.Now()
		select {
		case <-over:
			return
		case <-time.After(canaryPause):
		}
		l.mu.Lock()
		if now := time.Now(); now.Sub(l.turned) >= lateFor {
			l.late, l.lateBefore, l.turned = 0, l.late, now
		}
		l.late = max(l.late, time.Since(begun)-canaryPause)
		l.mu.Unlock()
	}
}
