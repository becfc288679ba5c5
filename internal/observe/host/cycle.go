package host

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// cycleRest is how long the end of a repetition may wait for the host to come to rest. It is no settle time: a
	// checkpoint says what leaked, a cycle only needs values that can be compared.
	cycleRest = 600 * time.Millisecond
	// cycleClose is how long the host may take after that to close what it has opened since the last cycle.
	cycleClose = 100 * time.Millisecond
	// mostWaits is after how many waits in a row without success no more is waited.
	mostWaits = 2
)

// cycleWaits counts the waits in a row that were in vain.
type cycleWaits struct {
	rest, close int
	held        int // the host's descriptors at the end of the cycle before
}

// cycle takes the census at the end of a repetition: the host's descriptors
// and memory, and those of its servers, in a state that is the same each time.
func (r *run) cycle(ctx context.Context, c record.Cycle) error {
	quiet := func(s *state) bool { return s.right() }
	seen, err := r.lookFor(ctx, min(cycleRest, r.limits.Settle.D()), &r.cycles.rest, quiet)
	if err != nil {
		return err
	}
	if seen.right() {
		held := r.cycles.held
		closed := func(s *state) bool {
			return s.right() && (held == 0 || s.census.Host == nil || s.census.Host.FDs <= held)
		}
		if seen, err = r.lookFor(ctx, cycleClose, &r.cycles.close, closed); err != nil {
			return err
		}
	}
	c.Quiet = seen.right()
	if host := seen.census.Host; host != nil && c.Quiet {
		r.cycles.held = host.FDs
	}
	for i := range seen.census.Processes {
		seen.census.Processes[i].Args = nil
	}
	seen.census.Cycle = &c
	r.EmitCensus(record.CensusCycle, "", seen.census)
	return nil
}

// lookFor looks until ok, at most for the time limit, and not for longer than
// one look once that was in vain a few times in a row.
func (r *run) lookFor(ctx context.Context, limit time.Duration, vain *int, ok func(*state) bool) (*state, error) {
	if *vain >= mostWaits {
		limit = 0
	}
	begun := time.Now()
	deadline := begun.Add(limit)
	for pause := lookMin; ; pause = min(2*pause, lookMax) {
		news, next := r.newsChan(), time.Now().Add(lookMin)
		state, _, err := r.look(ctx, record.Checkpoint{Wants: r.wants(nil)})
		if err != nil {
			return nil, err
		}
		if ok(state) {
			*vain = 0
			return state, nil
		}
		enough := r.limits.Fast > 0 && time.Since(begun) >= fastRest && r.mayGiveUp(state)
		if enough || !time.Now().Before(deadline) {
			*vain++
			return state, nil
		}
		if err := patience.UntilNews(ctx, news, next, min(pause, time.Until(deadline))); err != nil {
			return nil, err
		}
	}
}

// stirred is how soon after one another two looks are taken because a server has done something.
const stirred = 50 * time.Millisecond

// sampled is how often a sample is due, and whether a look that was taken for something else has been one.
type sampled struct {
	every  atomic.Int64 // nanoseconds; 0: none is due
	last   time.Time    // guarded by mu
	byLook atomic.Bool  // since the latest tick
}

// sample takes a census now and then, for the curves; and soon after a server was born or has answered, so that what it
// has started is seen while it is still below it. A look that is taken meanwhile for something else is a sample, too.
// It returns a function that ends that.
func (r *run) sample(ctx context.Context) func() {
	ctx, cancel := context.WithCancel(ctx)
	every := cmp.Or(r.Sample, r.Soak.sampleOf())
	r.sampled.every.Store(int64(every))
	over := make(chan struct{})
	go guarded(func() {
		defer close(over)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for last := time.Now(); ; last = time.Now() {
			if !r.sampled.byLook.Swap(false) {
				census, err := r.Loaded(ctx)
				if err != nil {
					return // a checkpoint will say so
				}
				r.emitSample(census)
			}
			if r.untilStirred(ctx, ticker.C, last.Add(stirred)) != nil {
				return
			}
		}
	})()
	return func() { cancel(); <-over; r.sampled.every.Store(0) }
}

// untilStirred waits for the next tick, and takes censuses meanwhile where servers stir. They are written down where they
// show a process that none has shown yet.
func (r *run) untilStirred(ctx context.Context, tick <-chan time.Time, earliest time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick:
			return nil
		case <-r.stir:
		}
		if err := patience.UntilChange(ctx, nil, time.Until(earliest)); err != nil {
			return err
		}
		census, err := r.Census(ctx)
		if err != nil {
			return err
		}
		r.emitNewcomers(census)
		earliest = time.Now().Add(stirred)
	}
}

// stirs says that a server may have started something.
func stirs(e *record.Event) bool {
	return e.Kind == record.Born || e.Kind == record.RPC && e.RPC.Phase == record.PhaseAnswered
}

// emitNewcomers writes a census down where it shows a process that none has shown yet: what that belongs to must be known
// from the time at which it is first seen, since what stands above it may be gone a moment later. A census with the load is
// written down as a sample, too, when one is due.
func (r *run) emitNewcomers(c *record.Census) {
	var worth bool
	r.locked(func() {
		every := time.Duration(r.sampled.every.Load())
		due := c.Load != nil && every > 0 && time.Since(r.sampled.last) > every*9/10
		if due {
			r.sampled.byLook.Store(true)
		}
		worth = due || r.showsNewcomers(c)
	})
	if worth {
		copied := *c
		copied.Processes = slices.Clone(c.Processes)
		r.emitSample(&copied)
	}
}

// showsNewcomers is for who holds mu.
func (r *run) showsNewcomers(c *record.Census) bool {
	return slices.ContainsFunc(c.Processes, func(p record.Process) bool {
		return !r.lives.Knows(p.Identity) && p.State != record.StateZombie
	})
}

// emitSample leaves out the command lines that tell nothing new.
func (r *run) emitSample(c *record.Census) {
	r.locked(func() {
		if c.Load != nil {
			r.sampled.last = time.Now()
		}
		for i := range c.Processes {
			p := &c.Processes[i]
			if history.IsServer(p, r.ID) || r.lives.Knows(p.Identity) && !history.CarriesServer(p, r.ID) {
				p.Args = nil
			}
		}
	})
	r.EmitCensus(record.CensusSample, "", c)
}
