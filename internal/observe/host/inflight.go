package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// cancelled cancels a request once a server has received what it is about.
// One that is answered before that was not cancelled, which the step says.
func (r *run) cancelled(ctx context.Context, req driver.Request, s scenarios.Step, step *record.Step) (failed, fatal error) {
	limited, cancel := r.untilAnswer(ctx, r.stepLimit(s.Timeout, 0))
	defer cancel()
	inServer := r.handshakeBegins(s.Session)
	switch s.Op {
	case record.OpCall:
		inServer = r.oneMore(func(l *history.History) int { return l.CountCalls(s.Session, s.Tool) })
	case record.OpList:
		inServer = r.oneMore(func(l *history.History) int { return l.CountLists(s.Session, record.Method(s.Listed()+"/list")) })
	}
	req.TimeoutMS = s.Timeout.D().Milliseconds()
	h := r.current()
	pending, err := h.driver.Begin(req)
	if err != nil {
		return err, r.fatal(ctx, h, err)
	}
	type answer struct {
		resp driver.Response
		err  error
	}
	answers := make(chan answer, 1)
	waiting, stopWaiting := context.WithCancel(limited)
	defer stopWaiting()
	go guarded(func() {
		resp, err := pending.Wait(limited)
		answers <- answer{resp, err}
		stopWaiting()
	})()
	err = r.wait(waiting, inServer)
	if err == nil && s.CancelAfter > 0 {
		err = patience.UntilChange(waiting, nil, s.CancelAfter.D())
	}
	if err != nil {
		step.Uncut = true
	} else if err := sendCancel(limited, h, pending.ID, s.Twice); err != nil {
		return err, r.fatal(ctx, h, err)
	}
	step.Cancelled = !step.Uncut
	a := <-answers // it comes when limited ends, at the latest
	step.Answer = surprise(step, a.resp)
	return answered(a.resp, a.err), r.fatal(ctx, h, forSession(s.Session, a.err))
}

// sendCancel sends a cancel, or two before the first one is answered. That a host finds nothing to cancel any more is no error.
func sendCancel(ctx context.Context, h *hostLife, target int64, twice bool) error {
	req := driver.Request{Op: driver.OpCancel, Target: target}
	if twice {
		first, err := h.driver.Begin(req)
		if err != nil {
			return err
		}
		defer func() { _, _ = first.Wait(ctx) }()
	}
	_, err := h.driver.Do(ctx, req)
	return err
}

// oneMore is a condition that holds once there is one more of something than now.
func (r *run) oneMore(count func(*history.History) int) func(*history.History) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := count(r.lives)
	return func(l *history.History) bool { return count(l) > before }
}

// handshakeBegins is a condition that holds once a server of the session that is not there yet keeps a handshake waiting.
func (r *run) handshakeBegins(session string) func(*history.History) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.lives.Servers())
	return func(l *history.History) bool {
		return slices.ContainsFunc(l.Servers()[before:], func(s *history.Server) bool { return s.Session == session && s.KeepsWaiting() })
	}
}

// await waits until something is under way in a server of a session, which a step beside has asked for. Once the lanes beside it are over,
// nothing can come any more.
func (r *run) await(ctx context.Context, s scenarios.Step) error {
	step := record.Step{Op: s.Op, Session: s.Session, Label: r.labelOf(s.Session), Detail: s.For, Expect: s.Expect, Defining: s.Defining}
	step, begun := r.begin(step), time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, r.Start.D(),
		fmt.Errorf("no %s of session %s was in flight within %v", s.For, s.Session, r.Start))
	defer cancel()
	limited, late := context.WithCancelCause(limited)
	defer late(nil)
	go guarded(func() {
		if allOver(limited) {
			late(fmt.Errorf("no %s of session %s was seen in flight, and the steps beside are over", s.For, s.Session))
		}
	})()
	err := r.wait(limited, func(l *history.History) bool {
		return r.host.end || slices.ContainsFunc(l.Alive(), func(srv *history.Server) bool {
			return underWay(srv, s.Session, s.For)
		})
	})
	r.end(step, begun, err)
	return context.Cause(ctx)
}

// lanesKey is where the context of a lane has the ends of the lanes beside it, and of those beside what is around it.
type lanesKey struct{}

func besideLanes(ctx context.Context, over []chan struct{}) context.Context {
	around, _ := ctx.Value(lanesKey{}).([]chan struct{})
	return context.WithValue(ctx, lanesKey{}, slices.Concat(around, over))
}

// allOver waits until all lanes beside are over. It is false where the context ends first.
func allOver(ctx context.Context) bool {
	lanes, _ := ctx.Value(lanesKey{}).([]chan struct{})
	for _, over := range lanes {
		select {
		case <-over:
		case <-ctx.Done():
			return false
		}
	}
	return ctx.Err() == nil
}

func underWay(s *history.Server, session, what string) bool {
	if what == scenarios.AwaitConnect {
		return s.Session == session && s.KeepsWaiting()
	}
	return slices.ContainsFunc(s.CallsFor(session), func(c history.Call) bool { return c.Answered == history.Never })
}
