package runner

import (
	"context"
	"time"

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
	r.emitCensus(record.CensusCycle, "", seen.census)
	return nil
}

// lookFor looks until ok, at most for the time limit, and not for longer than
// one look once that was in vain a few times in a row.
func (r *run) lookFor(ctx context.Context, limit time.Duration, vain *int, ok func(*state) bool) (*state, error) {
	if *vain >= mostWaits {
		limit = 0
	}
	deadline := time.Now().Add(limit)
	for pause := lookMin; ; pause = min(2*pause, lookMax) {
		changed := r.changedChan()
		state, _, err := r.look(ctx, record.Checkpoint{Wants: r.wants(nil)})
		if err != nil {
			return nil, err
		}
		if ok(state) {
			*vain = 0
			return state, nil
		}
		if !time.Now().Before(deadline) {
			*vain++
			return state, nil
		}
		if err := untilChange(ctx, changed, min(pause, time.Until(deadline))); err != nil {
			return nil, err
		}
	}
}
