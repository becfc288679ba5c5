package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

const (
	// answerWait is how long the bench waits for a host's answer, at the least. The
	// longest close ladder of any published client is 15 s.
	answerWait = 30 * time.Second
	// exitMoment is how much later than a failed exchange the end of a dead host's stdout may be read.
	exitMoment = time.Second
	// callSlack is how long the bench waits for the end of a call that has run out of its time, at the least.
	callSlack = 15 * time.Second
	// hungSlack is how much longer than its law allows the bench waits for a call that the host was to give up.
	hungSlack = 2 * time.Second
	maxError  = 2000 // bytes of an error that go into the run file
	maxAnswer = 400  // bytes of an answer that go there: of a step that was to fail
)

// begin writes down that a step begins and gives it its number.
func (r *run) begin(s record.Step) record.Step {
	r.mu.Lock()
	r.steps++
	s.N = r.steps
	r.mu.Unlock()
	r.Emit(record.Event{Kind: record.StepBegun, Step: &s})
	return s
}

// end writes down how a step ended.
func (r *run) end(s record.Step, begun time.Time, err error) { r.endWith(s, begun, err, nil) }

// endWith writes down how a step ended, and what kept it from ending.
func (r *run) endWith(s record.Step, begun time.Time, err error, keeps []record.Evidence) {
	s.OK, s.Took = err == nil, record.Duration(time.Since(begun))
	r.ledger.Drain()
	if err != nil {
		s.Error = clipped(err.Error())
	}
	s.NotPlayed = errors.As(err, new(*driver.NotPlayed))
	r.Emit(record.Event{Kind: kindOfEnd(err), Step: &s, Evidence: keeps})
	r.countUnanswered(s, err)
}

// clipped is a host's message as it may be kept.
func clipped(message string) string { return text.ClipBytes(redact.Text(message), maxError, "...") }

// surprise is the answer to a step that was to fail, as it may be kept; "" of any other. Some hosts give an error as the text of a result,
// and only the text shows that.
func surprise(step *record.Step, resp driver.Response) string {
	if step.Expect != record.ExpectFail || !resp.OK || len(resp.Result) == 0 {
		return ""
	}
	var said string
	if json.Unmarshal(resp.Result, &said) != nil {
		said = string(resp.Result) // of a list
	}
	return text.ClipBytes(redact.Text(said), maxAnswer, "...")
}

func (r *run) skip(s record.Step, why string) { r.skipBegun(r.begin(s), why) }

func (r *run) skipBegun(s record.Step, why string) {
	s.Error = why
	r.Emit(record.Event{Kind: record.StepSkipped, Step: &s})
}

// perform plays steps in order. It fails only when the play can't go on: the host is gone, the run was interrupted,
// the bench is broken. What a host does badly is written down, not returned.
func (r *run) perform(ctx context.Context, steps []scenarios.Step) error {
	h := r.current()
	for _, s := range steps {
		if err := cmp.Or(context.Cause(ctx), r.Err(), r.sameProgram(nil)); err != nil {
			return err
		}
		// Where another lane has restarted the host, this one is over too.
		if (r.gone() || r.current() != h) && s.Op != record.OpCheckpoint {
			return errHostGone
		}
		if r.leavesOut(s) {
			continue
		}
		if err := r.one(ctx, s); err != nil {
			return err
		}
		if restarts(s) {
			h = r.current()
		}
		if s.Cycle != nil && !r.gone() {
			if err := r.cycle(ctx, *s.Cycle); err != nil {
				return err
			}
		}
	}
	return nil
}

// leavesOut says that a step would show nothing, after what the host has not answered so far.
func (r *run) leavesOut(s scenarios.Step) bool {
	return r.hasGivenUp() && s.Op != record.OpCheckpoint && !s.Op.EndsHost() || r.isOccupied(s.Session)
}

func (r *run) one(ctx context.Context, s scenarios.Step) error {
	switch s.Op {
	case record.OpCheckpoint:
		if err := r.awaitNotice(ctx); err != nil {
			return err
		}
		return r.checkpoint(ctx, s.Name, s.Live)
	case record.OpStop:
		return r.stopHost(ctx)
	case record.OpTerm:
		return r.endHost(ctx, record.OpTerm, proc.Asks, 0)
	case record.OpKill:
		return r.endHost(ctx, record.OpKill, "SIGKILL", 0)
	case record.OpRestart:
		return r.restart(ctx, s)
	case record.OpBreak:
		return r.breakServer(ctx, s)
	case record.OpAwait:
		return r.await(ctx, s)
	case record.OpRecycle:
		return r.recycle(ctx, s)
	case record.OpParallel:
		return r.parallel(ctx, s.Lanes)
	}
	return r.drive(ctx, s)
}

// drive plays a step that only a driver can do.
func (r *run) drive(ctx context.Context, s scenarios.Step) error {
	step := record.Step{Op: s.Op, Session: s.Session, Label: s.Label, Expect: s.Expect, Defining: s.Defining}
	if step.Label == "" {
		step.Label = r.labelOf(s.Session)
	}
	if s.Patient {
		step.Patience = r.limits.Patience
	}
	switch s.Op {
	case record.OpOpen:
		if s.If == scenarios.IfLost {
			return r.openIfLost(ctx, s, step)
		}
		return r.open(ctx, s, step)
	case record.OpCall:
		return r.call(ctx, s, step)
	case record.OpList:
		return r.list(ctx, s, step)
	case record.OpClose, record.OpForget:
		return r.close(ctx, s, step)
	case record.OpReload:
		return r.reload(ctx, s, step)
	case record.OpTick:
		return r.tick(ctx, s, step)
	}
	return fmt.Errorf("leakbench does not know the step %q", s.Op)
}

// parallel plays lanes side by side.
func (r *run) parallel(ctx context.Context, lanes [][]scenarios.Step) error {
	errs := make([]error, len(lanes))
	over := make([]chan struct{}, len(lanes))
	for i := range lanes {
		over[i] = make(chan struct{})
	}
	var wg sync.WaitGroup
	for i, lane := range lanes {
		wg.Go(guarded(func() {
			defer close(over[i])
			errs[i] = r.perform(besideLanes(ctx, slices.Delete(slices.Clone(over), i, i+1)), lane)
		}))
	}
	wg.Wait()
	return r.unlessRestarted(errs...)
}

// do asks the driver and says what to make of its answer: fatal ends the play.
func (r *run) do(ctx context.Context, req driver.Request, timeout record.Duration) (failed, fatal error) {
	_, failed, fatal = r.doWithin(ctx, req, timeout, r.stepLimit(timeout, 0))
	return failed, fatal
}

func (r *run) doWithin(
	ctx context.Context, req driver.Request, timeout record.Duration, limit time.Duration,
) (resp driver.Response, failed, fatal error) {
	req.TimeoutMS = timeout.D().Milliseconds()
	limited, cancel := r.untilAnswer(ctx, limit)
	defer cancel()
	h := r.current()
	resp, err := h.driver.Do(limited, req)
	r.checkNonce(resp, req)
	return resp, answered(resp, err), r.fatal(ctx, h, forSession(req.Session, err))
}

func forSession(name string, err error) error {
	if err == nil || name == "" {
		return err
	}
	return fmt.Errorf("session %s: %w", name, err)
}

func answered(resp driver.Response, err error) error {
	switch {
	case err != nil || resp.OK:
		return err
	case resp.NotPlayed != "":
		return &driver.NotPlayed{Why: resp.NotPlayed}
	}
	return errors.New(resp.Error)
}

// fatal says whether a failed exchange with the driver of a life of the host ends the play.
func (r *run) fatal(ctx context.Context, h *hostLife, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, errNoAnswer) {
		r.Doubt(record.DoubtNoAnswer, "%v, so the outcome is unknown", err)
		return nil // the play goes on
	}
	// Its exit shows that a host has died, and has not broken the protocol.
	// The exit may come a moment after the first failed exchange.
	timer := time.NewTimer(exitMoment)
	defer timer.Stop()
	select {
	case <-h.driver.Done():
		if h.clients != nil && !r.ended(h) { // after a restart they go with the gateway that was before
			return fmt.Errorf("the clients in front of the gateway have failed: %w", err)
		}
		return r.awaitHostExit(ctx, h)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	}
	return fmt.Errorf("%w: %w", observe.ErrHost, err)
}

// awaitHostExit waits for the exit that must follow the end of a driver's stdout. A driver that closed its stdout and
// lives on does not speak the protocol.
func (r *run) awaitHostExit(ctx context.Context, h *hostLife) error {
	limited, cancel := context.WithTimeout(ctx, r.limits.Stop.D())
	defer cancel()
	if r.wait(limited, func(*history.History) bool { return h.end }) == nil {
		return errHostGone
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: the host closed its stdout but did not exit", observe.ErrHost)
}

func (r *run) labelOf(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[name]; s != nil {
		return s.label
	}
	return ""
}

// session writes down what the host is entitled to keep alive from now on.
//
// Of a gateway whose clients share a server it is entitled to that one alone; of sessions that share an entry, it is the host's
// business which server is whose.
// One that has a server for each request is entitled to none in between.
//
// It returns how many changes of sessions there have been.
func (r *run) session(name, label string, state record.SessionState, cut bool, why record.Why) (changes int) {
	if r.sharing == record.PerRequest && state == record.SessionOpen {
		state, why = record.SessionEnded, record.WhyPerRequest
	}
	r.ledger.Drain()
	r.locked(func() {
		r.changes++
		changes = r.changes
		r.sessions[name] = &session{label: label, state: state, failed: why == record.WhyNotOpened, opened: r.lives.Last()}
	})
	if r.sharing == record.Shared || r.sharing == record.Either {
		return changes
	}
	r.Emit(record.Event{Kind: record.SessionChanged, Session: &record.Session{
		Name: name, Label: label, State: state, Cut: cut, Why: why,
	}})
	return changes
}

func (r *run) open(ctx context.Context, s scenarios.Step, step record.Step) error {
	step, begun := r.begin(step), time.Now()
	r.opens.begin(s.Session, func() int { return r.session(s.Session, step.Label, record.SessionOpening, false, "") })
	req := r.connects(s, step.Label)
	failed, fatal := r.doOrCancel(ctx, req, s, &step)
	failed, fatal = r.askAgain(ctx, req, s, step, failed, fatal)
	r.opens.end(s.Session, func(beside int) {
		if failed == nil {
			r.session(s.Session, step.Label, record.SessionOpen, false, "")
			return
		}
		alone := beside == 0 && !r.isOpen(s.Session) // of two side by side, the other one may have opened it, or may yet
		if alone && fatal == nil && !mayYetOpen(s, failed) {
			r.session(s.Session, step.Label, record.SessionEnded, false, record.WhyNotOpened)
		}
	})
	r.end(step, begun, failed)
	if failed != nil && fatal == nil && step.Expect != record.ExpectFail {
		fatal = r.idle(ctx, failed)
	}
	if fatal == nil {
		fatal = r.failsAlike(ctx, &r.alikeOpens, step, failed)
	}
	return fatal
}

// connects is what connects a session: to a server of its own, or to an entry whose command line all its sessions have.
func (r *run) connects(s scenarios.Step, label string) driver.Request {
	op, whose := driver.OpOpen, s.Session
	if s.Shared {
		op = driver.OpShare
		if r.sharing == record.Either {
			whose = ""
		}
	}
	server := r.server(label, whose)
	return driver.Request{Op: op, Session: s.Session, Server: &server}
}

func (r *run) isOpen(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[name]
	return s != nil && s.state == record.SessionOpen
}

// close ends a session, by a close or a forget.
func (r *run) close(ctx context.Context, s scenarios.Step, step record.Step) error {
	step, begun := r.begin(step), time.Now()
	since := r.session(s.Session, step.Label, record.SessionEnding, false, record.Why(step.Op))
	failed, fatal := r.do(ctx, driver.Request{Op: string(step.Op), Session: s.Session}, s.Timeout)
	r.opens.unlessSince(s.Session, since, func() {
		r.session(s.Session, step.Label, record.SessionEnded, false, record.Why(step.Op))
	})
	r.end(step, begun, failed)
	return fatal
}

func (r *run) call(ctx context.Context, s scenarios.Step, step record.Step) error {
	if s.Tool == "" {
		s.Tool = "echo"
	}
	step.Detail, step.Limit = s.Tool, s.Timeout
	step, begun := r.begin(step), time.Now()
	req := driver.Request{Op: driver.OpCall, Session: s.Session, Tool: s.Tool, Args: withNonce(s.Args, step)}
	if r.sharing == record.Either { // the arguments alone tell the server whose call it is
		req.Args["session"] = s.Session
	}
	defer r.asRequest(s, step.Label)()
	if r.neverOpened(s.Session) {
		defer r.mayOpen(s.Session, step.Label)()
	}
	if s.Timeout > 0 && !s.Cancel {
		return r.limitedCall(ctx, req, step, begun)
	}
	failed, fatal := r.doOrCancel(ctx, req, s, &step)
	failed, fatal = r.askAgain(ctx, req, s, step, failed, fatal)
	r.end(step, begun, failed)
	if fatal == nil {
		fatal = r.failsAlike(ctx, &r.alikeCalls, step, failed)
	}
	return fatal
}

// asRequest writes down the session that a request is for a host which has a server for each.
func (r *run) asRequest(s scenarios.Step, label string) (over func()) {
	if r.sharing != record.PerRequest {
		return func() {}
	}
	cut := s.Cancel || s.Timeout > 0 || s.Patient
	r.session(s.Session, label, record.SessionOpening, cut, record.WhyRequest)
	return func() { r.session(s.Session, label, record.SessionEnded, cut, record.WhyRequest) }
}

// limitedCall is a call that the host itself was to give up in time. That it
// did not leaves nothing unknown: no session begins or ends with a call.
func (r *run) limitedCall(ctx context.Context, req driver.Request, step record.Step, begun time.Time) error {
	req.TimeoutMS = step.Limit.D().Milliseconds()
	// From the limit of its law on it hangs, whether it comes back or not.
	limited, cancel := r.untilAnswer(ctx, step.Limit.D()+r.limits.Close.D()+hungSlack)
	defer cancel()
	h := r.current()
	resp, err := h.driver.Do(limited, req)
	r.checkNonce(resp, req)
	step.Answer = surprise(&step, resp)
	r.end(step, begun, answered(resp, err))
	if errors.Is(err, errNoAnswer) && ctx.Err() == nil {
		return nil
	}
	return r.fatal(ctx, h, err)
}

// doOrCancel asks the driver, and cancels that where the step says so.
func (r *run) doOrCancel(ctx context.Context, req driver.Request, s scenarios.Step, step *record.Step) (failed, fatal error) {
	if s.Cancel {
		return r.cancelled(ctx, req, s, step)
	}
	if s.Patient {
		return r.ownLimit(ctx, req, s, step)
	}
	var busy time.Duration
	if s.Expect == record.ExpectOK {
		busy = sleeps(s.Tool, s.Args)
	}
	resp, failed, fatal := r.doWithin(ctx, req, s.Timeout, r.stepLimit(s.Timeout, busy))
	step.Answer = surprise(step, resp)
	return failed, fatal
}
