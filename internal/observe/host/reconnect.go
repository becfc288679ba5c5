package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// openIfLost opens a session only where the host has not given it a working server again by itself.
//
// A host that claims to do so is waited for and called once more; that it did not is a failed step. The session is opened all the same,
// for the steps that follow.
func (r *run) openIfLost(ctx context.Context, s scenarios.Step, step record.Step) error {
	s.If = ""
	works, err := r.comingBack(ctx, s.Session, step.Label)
	switch {
	case err != nil:
		return err
	case works != nil:
		r.keep(step, works)
		return nil
	case r.profile.Reconnects == record.ByItself && !r.gone() && r.isLost(s.Session, step.Label):
		if back, err := r.comesBack(ctx, s, step); back || err != nil {
			return err
		}
	}
	step.Reconnect = record.ByOpen
	return r.open(ctx, s, step)
}

const doneByItself = "the host reconnected by itself"

// keep leaves out the open of a session that has a server which works: the one that it was opened with, or another.
func (r *run) keep(step record.Step, works *history.Server) {
	r.mu.Lock()
	s := r.sessions[step.Session]
	same := s != nil && works.Born <= s.opened
	r.mu.Unlock()
	step.Unasked = true
	if same {
		r.skip(step, "the session is not lost")
		return
	}
	step.Reconnect = record.ByItself
	r.skip(step, doneByItself)
}

// comesBack plays one more call of a session whose host claims to reconnect it, and waits for the new server.
func (r *run) comesBack(ctx context.Context, s scenarios.Step, step record.Step) (back bool, err error) {
	again := scenarios.Step{Op: record.OpCall, Session: s.Session, Expect: record.ExpectAny, Timeout: r.limits.Close}
	if err := r.drive(ctx, again); err != nil {
		return false, err
	}
	step.Reconnect = record.ByItself
	step, begun := r.begin(step), time.Now()
	wait := r.Start.D()
	if r.unclaimed.Load() { // it had that time once
		wait = r.limits.Quiet.D()
	}
	limited, cancel := context.WithTimeoutCause(ctx, wait, errNotBack)
	defer cancel()
	err = r.wait(limited, func(l *history.History) bool {
		return r.host.end || isBack(l, r.serversOf(s.Session, step.Label)) != nil
	})
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if err == nil {
		step.Unasked = true
		r.skipBegun(step, doneByItself)
	} else {
		r.unclaimed.Store(true)
		r.end(step, begun, fmt.Errorf("%w, and has not within %v", errNotBack, wait))
	}
	return err == nil, nil
}

var errNotBack = errors.New("the host claims to reconnect by itself (reconnects: itself)")

// mayOpen takes note of a call on a session that could not be opened: a host that connects when it is used may open it now.
func (r *run) mayOpen(session, label string) (over func()) {
	r.opens.begin(session, func() int { return r.session(session, label, record.SessionOpening, false, "") })
	return func() {
		r.ledger.Drain()
		back, mine := false, r.serversOf(session, label)
		r.locked(func() { back = isBack(r.lives, mine) != nil })
		r.opens.end(session, func(beside int) {
			switch {
			case back:
				r.session(session, label, record.SessionOpen, false, "")
			case beside == 0:
				r.session(session, label, record.SessionEnded, false, record.WhyNotOpened)
			}
		})
	}
}

// comingBack returns the server of a session that works, or nil. One that is being launched is waited for, as long as a server may take
// to settle.
func (r *run) comingBack(ctx context.Context, session, label string) (works *history.Server, err error) {
	limited, cancel := context.WithTimeout(ctx, r.limits.Settle.D())
	defer cancel()
	mine := r.serversOf(session, label)
	r.ledger.Drain()
	_ = r.wait(limited, func(l *history.History) bool {
		works = isBack(l, mine)
		return works != nil || r.host.end || !isComing(l, mine)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return works, nil
}

// serversOf selects the servers of a session; where the bench does not know the host's sessions, those of the label.
func (r *run) serversOf(session, label string) func(*history.Server) bool {
	unknown := r.sessionsUnknown()
	return func(s *history.Server) bool { return s.Label == label && (unknown || s.Session == session) }
}

// isBack returns the newest server that works: it was launched after the latest fault that broke a session, or has answered a call since,
// as some hosts get past some faults.
func isBack(l *history.History, mine func(*history.Server) bool) *history.Server {
	lost := history.Never
	for _, s := range l.Servers() {
		if mine(s) {
			lost = max(lost, s.Broken)
		}
	}
	for _, s := range slices.Backward(l.Alive()) {
		answered := func(c history.Call) bool { return c.Received > lost && c.Answered > lost }
		works := s.Broken < 0 && s.Born > lost || slices.ContainsFunc(s.Calls, answered)
		if mine(s) && s.Life == len(l.Hosts()) && established(s) && works {
			return s
		}
	}
	return nil
}

// isLost says that a session has lost its server, so that a host which claims to reconnect must.
func (r *run) isLost(session, label string) (lost bool) {
	mine := r.serversOf(session, label)
	r.locked(func() { lost = isGone(r.lives, mine) })
	return lost
}

// isGone says that the newest server has ended, or closed its stdout. Of one that is busy or does not read, no host knows that it will
// not answer again.
func isGone(l *history.History, mine func(*history.Server) bool) bool {
	for _, s := range slices.Backward(l.Servers()) {
		if mine(s) {
			return !s.Alive() || slices.ContainsFunc(s.Faults, func(f history.FaultMark) bool { return f.Do == "close-stdout" })
		}
	}
	return false
}

// isComing says that a server is in its handshake.
func isComing(l *history.History, mine func(*history.Server) bool) bool {
	return slices.ContainsFunc(l.Alive(), func(s *history.Server) bool {
		return mine(s) && s.Life == len(l.Hosts()) && s.Broken < 0 && !established(s)
	})
}
