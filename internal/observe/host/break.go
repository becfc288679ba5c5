package host

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

// breakServer orders the newest working server of a session, or of a label, to
// commit a fault, and waits until it says that it does.
func (r *run) breakServer(ctx context.Context, s scenarios.Step) error {
	step := record.Step{Op: record.OpBreak, Session: s.Session, Label: s.Label, Detail: s.With.Do, Defining: s.Defining}
	if step.Label == "" {
		step.Label = r.labelOf(s.Session)
	}
	step.Label = cmp.Or(step.Label, r.planned[s.Session])
	if r.sessionsUnknown() { // sessions are not known, so all servers of a label count as one
		step.Session = ""
	}
	if r.noRelaunch || r.stillUnreplaced(step.Label) {
		r.skip(step, "the host does not launch its server again")
		return nil
	}
	if r.sharing == record.PerRequest {
		r.skip(step, fit.NoneToBreak)
		return nil
	}
	if r.neverOpened(step.Session) {
		r.end(r.begin(step), time.Now(), fmt.Errorf("session %s was not opened: it has no server to break", step.Session))
		return nil
	}
	step, begun := r.begin(step), time.Now()
	limited, cancel := r.untilUp(ctx, step)
	defer cancel()
	err := r.breakNewest(limited, step, s)
	r.setBare(step, err != nil)
	// A driver host is asked to open its session anew; a command either reconnects by itself or never will.
	r.noRelaunch = err != nil && r.sessionsUnknown()
	r.end(step, begun, err)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil // the plan says that the fault must fire
}

// untilUp bounds the wait for a working server: a session for which one was waited in vain is not waited for as long again.
func (r *run) untilUp(ctx context.Context, step record.Step) (context.Context, context.CancelFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := r.Start.D()
	if r.bare[step.Session+" "+step.Label] {
		wait = r.limits.Quiet.D()
	}
	return context.WithTimeoutCause(ctx, wait, fmt.Errorf("no working server to break within %v", wait))
}

func (r *run) setBare(step record.Step, is bool) {
	r.locked(func() { r.bare[step.Session+" "+step.Label] = is })
}

// neverOpened says that a session could not be opened: its server need not be waited for.
func (r *run) neverOpened(session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[session]
	return s != nil && s.failed && s.state == record.SessionEnded
}

// breakNewest tries the next one where the host has ended the server before the order reached it.
func (r *run) breakNewest(ctx context.Context, step record.Step, s scenarios.Step) error {
	order, err := json.Marshal(s.With)
	if err != nil {
		return err
	}
	for {
		target, err := r.newestByNow(ctx, step)
		if err != nil {
			return err
		}
		refused := r.ledger.Order(target, order)
		var fired bool
		err = r.wait(ctx, func(l *history.History) bool {
			srv := l.Server(target)
			fired = slices.ContainsFunc(srv.Faults, func(f history.FaultMark) bool {
				return f.On == record.OnOrder && f.Do == record.Action(s.With.Do)
			})
			return !srv.Alive() || fired && s.With.Do != "exit"
		})
		if err != nil {
			return cmp.Or(refused, err)
		}
		if fired {
			return nil
		}
	}
}

// newestByNow waits for a working server for no longer than one may take to settle, where the session has lost its own and the host does
// not claim to launch another unasked.
func (r *run) newestByNow(ctx context.Context, step record.Step) (string, error) {
	for {
		limited, cancel := r.untilBack(ctx, step)
		_, err := r.newest(limited, step)
		cancel()
		if err != nil {
			return "", err
		}
		r.ledger.Drain() // another one may be the newest by now, or none
		if target := under(r, func() string { return newestOf(r.lives, step, "", established) }); target != "" {
			return target, nil
		}
	}
}

// untilBack bounds the wait for another server than one that has ended.
func (r *run) untilBack(ctx context.Context, step record.Step) (context.Context, context.CancelFunc) {
	if r.sessionsUnknown() || r.profile.Reconnects == record.ByItself || !r.isLost(step.Session, step.Label) {
		return context.WithCancel(ctx)
	}
	wait := r.limits.Settle.D()
	return context.WithTimeoutCause(ctx, wait, fmt.Errorf("its server has ended, and no other has come up within %v", wait))
}

// newest waits for a working server of the step's: one whose client has taken the answer of its handshake. Of a client
// that never says so the answer must do, after a moment; a host none of whose clients has said so is waited for once.
func (r *run) newest(ctx context.Context, step record.Step) (target string, err error) {
	find := func(works func(*history.Server) bool) func(*history.History) bool {
		return func(l *history.History) bool {
			found := newestOf(l, step, target, works)
			target = cmp.Or(found, target)
			return found != "" || r.host.end
		}
	}
	if err = r.wait(ctx, find(established)); err == nil {
		moment := takenMoment
		if r.taciturn.Load() {
			moment = 0
		}
		brief, cancel := context.WithTimeout(ctx, moment)
		defer cancel()
		said := r.wait(brief, find(working)) == nil
		r.taciturn.Store(!said && !r.anyWorks())
	}
	if err == nil && target == "" {
		err = errHostGone
	}
	return target, err
}

// newestOf is the newest server of a step's session or label that works, or "". Those that are older than one that was found before do
// not count: a host that leaks has them still.
func newestOf(l *history.History, step record.Step, before string, works func(*history.Server) bool) string {
	for _, srv := range slices.Backward(l.Alive()) {
		mine := srv.Life == len(l.Hosts()) && srv.Label == step.Label && (step.Session == "" || srv.Session == step.Session)
		if mine && works(srv) && srv.Broken < 0 {
			return srv.ID
		}
		if srv.ID == before {
			break
		}
	}
	return ""
}

// takenMoment is how long after the answer of a handshake its client may take to say that it has it.
const takenMoment = 2 * time.Second

// anyWorks says that a client of this run has taken an answer.
func (r *run) anyWorks() bool {
	return under(r, func() bool { return slices.ContainsFunc(r.lives.Servers(), working) })
}

func established(s *history.Server) bool { return s.Established != history.Never }

func working(s *history.Server) bool { return s.Working != history.Never }

// awaitNotice waits until a host that is a command has noticed that its server does not work any more: until it has
// launched the next one, or has ended this one. Until then there is nothing to hold against it, and nothing to clear
// it. A driver is asked to open its session anew; the clients of a gateway have called in vain.
func (r *run) awaitNotice(ctx context.Context) error {
	if !r.isCommand() || r.gone() || r.noRelaunch {
		return nil
	}
	var broken *history.Server
	r.locked(func() { broken = r.lives.Unnoticed() })
	if broken == nil {
		return nil
	}
	step, begun := r.begin(record.Step{Op: record.OpAwait, Label: broken.Label, Detail: record.DetailRelaunch}), time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, r.Start.D(), fmt.Errorf(
		"the host has neither launched %s again within %v nor ended %s, which is broken: whether it has noticed is not known",
		broken.Label, r.Start, broken.ID))
	defer cancel()
	err := r.wait(limited, func(l *history.History) bool { return r.host.end || l.Unnoticed() == nil })
	r.noRelaunch = err != nil
	r.end(step, begun, err)
	return context.Cause(ctx)
}
