package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// jobs are the running jobs of ticks, by session, so that a cancel finds them.
type jobs struct {
	mu      sync.Mutex
	running map[string]context.CancelCauseFunc
}

type jobsKey struct{}

func newJobs() *jobs { return &jobs{running: map[string]context.CancelCauseFunc{}} }

func (j *jobs) cancel(session string) error {
	j.mu.Lock()
	cancel, ok := j.running[session]
	j.mu.Unlock()
	if !ok {
		return fmt.Errorf("no job of session %q is running", session)
	}
	cancel(ErrCancelled)
	return nil
}

// start makes the context of a job, which a cancel of its session ends.
func (j *jobs) start(ctx context.Context, session string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	j.mu.Lock()
	j.running[session] = cancel
	j.mu.Unlock()
	return ctx, func() {
		cancel(nil)
		j.mu.Lock()
		delete(j.running, session)
		j.mu.Unlock()
	}
}

// RunJobs runs each job in a goroutine of its own and returns their results,
// in the order of all, when the last one has ended. A job's context ends when
// the bench cancels its session, if ctx is the one that Serve gave to Tick. A
// job that panics has failed.
func RunJobs(ctx context.Context, all []Job, run func(context.Context, Job) error) []JobResult {
	registry, ok := ctx.Value(jobsKey{}).(*jobs)
	if !ok {
		registry = newJobs()
	}
	results := make([]JobResult, len(all))
	var wg sync.WaitGroup
	for i, job := range all {
		jobCtx, done := registry.start(ctx, job.Session)
		wg.Go(func() {
			defer done()
			err := guard(func() error { return run(jobCtx, job) })
			results[i] = JobResult{Session: job.Session, OK: err == nil}
			if err != nil {
				results[i].Error = err.Error()
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
