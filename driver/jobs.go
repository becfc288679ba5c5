package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// cancels end what is under way: requests by their id, jobs by their session.
type cancels struct {
	mu  sync.Mutex
	all map[any]context.CancelCauseFunc
}

type cancelsKey struct{}

func newCancels() *cancels { return &cancels{all: map[any]context.CancelCauseFunc{}} }

// start makes the context of a request or a job, until done. ok is false where one of that key is under way already.
func (c *cancels) start(ctx context.Context, key any) (_ context.Context, done func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key] != nil {
		return nil, nil, false
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.all[key] = cancel
	return ctx, func() {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, key)
	}, true
}

// cancel reports whether there was anything to cancel.
func (c *cancels) cancel(key any) bool {
	c.mu.Lock()
	cancel := c.all[key]
	c.mu.Unlock()
	if cancel != nil {
		cancel(ErrCancelled)
	}
	return cancel != nil
}

// RunJobs runs each job in a goroutine of its own and returns their results, in the order of all, when the last one has ended. A
// job's context ends when the bench cancels its session, if ctx is the one that Serve gave to Tick. A job that panics has failed.
func RunJobs(ctx context.Context, all []Job, run func(context.Context, Job) error) []JobResult {
	under, ok := ctx.Value(cancelsKey{}).(*cancels)
	if !ok {
		under = newCancels()
	}
	results := make([]JobResult, len(all))
	var wg sync.WaitGroup
	for i, job := range all {
		jobCtx, done, ok := under.start(ctx, job.Session)
		if !ok {
			results[i] = JobResult{Session: job.Session, Error: fmt.Sprintf("a job of session %q is running already", job.Session)}
			continue
		}
		wg.Go(func() {
			defer done()
			err := guard(func() error { return run(jobCtx, job) })
			results[i] = JobResult{Session: job.Session, OK: err == nil}
			if err != nil {
				results[i].Error = err.Error()
				if hung := (*Hung)(nil); errors.As(err, &hung) {
					results[i].PID = hung.PID
				}
				if unasked := (*Unasked)(nil); errors.As(err, &unasked) {
					results[i].Unasked = unasked.Why.Error()
				}
				if not := (*NotPlayed)(nil); errors.As(err, &not) {
					results[i].NotPlayed = not.Why
				}
			}
		})
	}
	wg.Wait()
	return results
}

// ReloadInTurn moves one session after the other to its new server: to open a
// session anew is to replace its connection. The error names each that failed.
func ReloadInTurn(ctx context.Context, sessions []SessionServer, open func(ctx context.Context, session string, s Server) error) error {
	var errs []error
	for _, s := range sessions {
		if err := open(ctx, s.Session, s.Server); err != nil {
			errs = append(errs, fmt.Errorf("session %s: %w", s.Session, err))
		}
	}
	return errors.Join(errs...)
}
