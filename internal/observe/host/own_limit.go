package host

import (
	"context"
	"errors"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// noOwnLimit says that the host has not given a request up within the patience of the bench. That is no mistake of the host: the step
// is not applicable.
type noOwnLimit struct {
	within  record.Duration
	pending bool // the host can't be asked to cancel it: it may still be at it
}

func (n *noOwnLimit) Error() string {
	return "the host has no limit of its own within " + duration.Text(n.within)
}

// Is says of a request that is still under way that it has no answer.
func (n *noOwnLimit) Is(target error) bool { return n.pending && target == errNoAnswer }

// kindOfEnd is how the file says that a step is over.
func kindOfEnd(err error) record.Kind {
	if errors.As(err, new(*noOwnLimit)) || errors.As(err, new(*driver.NotPlayed)) {
		return record.StepSkipped
	}
	return record.StepEnded
}

// ownLimit asks the driver without a time limit, and waits for the host to give up by itself. After that it cancels the request, so that
// the play can go on. Of a host that takes no cancel nothing more is asked for that session.
func (r *run) ownLimit(ctx context.Context, req driver.Request, s scenarios.Step, step *record.Step) (failed, fatal error) {
	h, within := r.current(), r.limits.Patience
	if h.clients != nil { // they are the bench's own: what is waited for is the limit of the gateway behind them
		req.TimeoutMS = 2 * within.D().Milliseconds()
	}
	pending, err := h.driver.Begin(req)
	if err != nil {
		return err, r.fatal(ctx, h, err)
	}
	limited, cancel := r.untilAnswer(ctx, within.D())
	defer cancel()
	resp, err := pending.Wait(limited)
	if !errors.Is(err, errNoAnswer) || ctx.Err() != nil {
		step.Answer = surprise(step, resp)
		return answered(resp, err), r.fatal(ctx, h, err)
	}
	none := &noOwnLimit{within: within, pending: !slices.Contains(r.hello.Ops, driver.OpCancel) || r.Host.NotApplicable[driver.OpCancel] != ""}
	if none.pending {
		r.occupy(s.Session)
		return none, nil
	}
	step.Cancelled = true
	ending, stop := r.untilAnswer(ctx, r.stepLimit(0, 0))
	defer stop()
	if err := sendCancel(ending, h, pending.ID, false); err != nil {
		return none, r.fatal(ctx, h, err)
	}
	_, err = pending.Wait(ending)
	return none, r.fatal(ctx, h, forSession(s.Session, err))
}

// occupy has nothing more asked for a session: a request of it will not end.
func (r *run) occupy(session string) { r.locked(func() { r.occupied[session] = true }) }

func (r *run) isOccupied(session string) bool {
	return under(r, func() bool { return r.occupied[session] })
}
