package runner

import (
	"context"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	// cycleRest is how long the end of a repetition may wait for the host to
	// come to rest. It is no settle time: a checkpoint says what leaked, a
	// cycle only needs values that can be compared.
	cycleRest = 400 * time.Millisecond
	// mostRestless is after how many cycles without rest no more is waited.
	mostRestless = 2
)

// cycle takes the census at the end of a repetition: the host's descriptors
// and memory, and those of its servers, in a state that is the same each time.
func (r *run) cycle(ctx context.Context, c record.Cycle) error {
	limit := min(cycleRest, r.limits.Settle.D())
	if r.restless >= mostRestless {
		limit = 0
	}
	deadline := time.Now().Add(limit)
	for pause := lookMin; ; pause = min(2*pause, lookMax) {
		changed := r.changedChan()
		state, _, err := r.look(ctx, record.Checkpoint{Wants: r.wants(nil)})
		if err != nil {
			return err
		}
		c.Quiet = state.right()
		if rests := c.Quiet && !r.grown(state.census); rests || !time.Now().Before(deadline) {
			r.endCycle(c, state.census, rests)
			return nil
		}
		timer := time.NewTimer(min(pause, max(time.Until(deadline), time.Millisecond)))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// grown says that the host holds more descriptors than at the end of the cycle
// before: it may still be closing some.
func (r *run) grown(census *record.Census) bool {
	return census.Host != nil && r.heldFDs > 0 && census.Host.FDs > r.heldFDs
}

func (r *run) endCycle(c record.Cycle, census *record.Census, rests bool) {
	r.restless++
	if rests {
		r.restless = 0
	}
	if census.Host != nil {
		r.heldFDs = census.Host.FDs
	}
	for i := range census.Processes {
		census.Processes[i].Args = nil
	}
	census.Cycle = &c
	r.emitCensus(record.CensusCycle, "", census)
}
