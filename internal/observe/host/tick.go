package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// job is one job of a tick.
type job struct {
	driver.Job
	step   record.Step
	cancel bool
	keeps  []record.Evidence // of a command that hangs, and of what is below it
}

// tick has the host run parallel jobs, each with a session of its own, while
// the bench cancels some of them and plays the steps in between.
func (r *run) tick(ctx context.Context, s scenarios.Step, step record.Step) error {
	step, begun := r.begin(step), time.Now()
	jobs := r.jobs(s, step.N)
	for _, j := range jobs {
		r.session(j.Session, j.Server.Name, record.SessionOpening, j.cancel || j.TimeoutMS > 0, record.WhyTick)
	}
	tickCtx, cancel := r.untilAnswer(ctx, r.tickLimit(s.Jobs))
	defer cancel()
	h := r.current()
	pending, err := h.driver.Begin(driver.Request{Op: driver.OpTick, Jobs: wire(jobs)})
	if err != nil {
		r.end(step, begun, err)
		return r.fatal(ctx, h, err)
	}
	beside, endBeside := context.WithCancelCause(tickCtx)
	var wg sync.WaitGroup
	for _, j := range jobs {
		if j.cancel {
			wg.Go(guarded(func() { r.cancelJob(beside, j) }))
		}
	}
	var besideErr error
	wg.Go(guarded(func() { besideErr = r.perform(tickCtx, s.Steps) }))
	resp, err := pending.Wait(tickCtx)
	endBeside(errTickOver)
	wg.Wait()
	if err := r.endHung(ctx, jobs, resp); err != nil {
		return err
	}
	r.endJobs(jobs, begun, resp, errors.Is(err, errNoAnswer))
	failed := answered(resp, err)
	r.end(step, begun, failed)
	if i := slices.IndexFunc(resp.Jobs, func(j driver.JobResult) bool { return j.Unasked != "" }); i >= 0 {
		r.Doubt(record.DoubtNotAskable, "a command could not be asked to end: %s", resp.Jobs[i].Unasked)
		return errUnasked
	}
	return r.unlessRestarted(r.fatal(ctx, h, err), besideErr)
}

// tickLimit is how long the slowest of the jobs may take.
func (r *run) tickLimit(jobs []scenarios.Job) time.Duration {
	var limit time.Duration
	for _, j := range jobs {
		busy := sleeps(j.Tool, j.Args)
		if j.Cancel {
			busy = 0
		}
		limit = max(limit, r.stepLimit(j.Timeout, busy))
	}
	if within := r.jobLimit(); within > 0 {
		limit = max(limit, within.D()+callSlack)
	}
	return limit
}

var errTickOver = errors.New("the tick is over")

func (r *run) jobs(s scenarios.Step, tick int) []job {
	var jobs []job
	for _, group := range s.Jobs {
		for range max(1, group.Count) {
			name := fmt.Sprintf("tick%d.job%d", tick, len(jobs)+1)
			j := job{
				Job: driver.Job{
					Session: name, Server: r.server(group.Label, name), Tool: group.Tool, Args: group.Args,
					TimeoutMS: group.Timeout.D().Milliseconds(), Probe: group.Probe, Signal: group.Signal,
				},
				cancel: group.Cancel,
			}
			if j.Tool == "" {
				j.Tool = "echo"
			}
			j.step = r.begin(record.Step{
				Op: record.OpJob, Session: name, Label: group.Label, Detail: group.What(), Expect: group.Expect, Limit: r.jobLimit(),
			})
			if !j.Probe {
				j.Args = withNonce(j.Args, j.step)
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func wire(jobs []job) []driver.Job {
	out := make([]driver.Job, len(jobs))
	for i, j := range jobs {
		out[i] = j.Job
	}
	return out
}

// cancelJob cancels a job once its call is in its server, or a fault holds up its handshake or its list of tools.
func (r *run) cancelJob(ctx context.Context, j job) {
	if err := r.wait(ctx, func(l *history.History) bool {
		return l.CountCalls(j.Session, j.Tool) > 0 || slices.ContainsFunc(l.Alive(), func(s *history.Server) bool {
			return s.Session == j.Session && s.IsHeldUp()
		})
	}); err != nil {
		if errors.Is(err, errTickOver) {
			r.Doubt(record.DoubtNoCancel, "the call of job %s never reached its server, so it could not be cancelled in flight", j.Session)
		}
		return
	}
	r.session(j.Session, j.Server.Name, record.SessionEnding, true, record.WhyCancel)
	_, _ = r.current().driver.Do(ctx, driver.Request{Op: driver.OpCancel, Session: j.Session})
}

// endJobs writes down how each job ended. A job without a result did not end. Of a host that has not answered at all nobody knows
// whether it has given the session up: it may still be waiting for the server.
func (r *run) endJobs(jobs []job, begun time.Time, resp driver.Response, silent bool) {
	results := map[string]driver.JobResult{}
	for _, result := range resp.Jobs {
		results[result.Session] = result
	}
	for _, j := range jobs {
		var err error
		if result, ok := results[j.Session]; !ok {
			err = errors.New("the host gave no result for this job")
		} else if !result.OK {
			err = answered(driver.Response{Error: result.Error, NotPlayed: result.NotPlayed}, nil)
		}
		if !silent {
			r.session(j.Session, j.Server.Name, record.SessionEnded, j.cancel || j.TimeoutMS > 0, record.WhyTick)
		}
		if why := results[j.Session].Unasked; why != "" {
			j.step.Error = clipped("its command could not be asked to end: " + why)
			r.Emit(record.Event{Kind: record.StepSkipped, Step: &j.step})
			continue
		}
		r.endWith(j.step, begun, err, j.keeps)
	}
}
