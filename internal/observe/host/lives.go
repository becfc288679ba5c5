package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

// hostLife is one life of the host: a restart begins another.
type hostLife struct {
	driver  *subject.Driver  // nil for a command host
	clients *subject.Clients // the clients before a gateway, whose driver they are
	stdin   io.Closer        // of a host that is not driven by it
	// The rest is guarded by the run's mu.
	id    record.Identity
	early *keeper.Exited // its end, where that came before its start was written down
	end   bool           // it was reaped
	exit  record.Exit    // how it ended
	asked bool           // the bench asked it to end, other than by a signal
}

// hangUp ends the conversation with the driver, if there is one, and the clients before a gateway.
func (h *hostLife) hangUp() error {
	if h.driver != nil {
		h.driver.Close()
	}
	return h.clients.End()
}

// current is the latest life of the host.
func (r *run) current() *hostLife { return under(r, func() *hostLife { return r.host }) }

// ended says that a life of the host is over.
func (r *run) ended(h *hostLife) bool { return under(r, func() bool { return h.end }) }

// livesSoFar counts those that have begun.
func (r *run) livesSoFar() int { return under(r, func() int { return len(r.lives.Hosts()) }) }

// isCommand says that the host's sessions are not known to the bench.
func (r *run) isCommand() bool { return r.Host.Kind == record.KindCommand }

// restart ends the host in the way of the step and starts it anew, on whatever that has left.
func (r *run) restart(ctx context.Context, s scenarios.Step) error {
	before := r.current()
	if err := r.endFor(ctx, s); err != nil {
		return err
	}
	r.endSessions()
	census, err := r.Census(ctx)
	if err != nil {
		return err
	}
	r.EmitCensus(record.CensusHandover, "", census)
	if err := before.hangUp(); err != nil {
		return err
	}
	r.noRelaunch = false
	r.locked(func() { clear(r.unreplaced) })
	over, err := r.turn(ctx)
	if err != nil {
		return err
	}
	defer over(false)
	step, begun := r.begin(record.Step{Op: record.OpStart, Detail: fmt.Sprintf("life %d", r.livesSoFar()+1)}), time.Now()
	err = r.startHost(ctx)
	over(err == nil)
	r.end(step, begun, err)
	if err != nil {
		return err
	}
	return r.lookAtStart(ctx)
}

// turn waits until the host may be started anew. It has ended by then, so no step of another lane can come between.
func (r *run) turn(ctx context.Context) (func(up bool), error) {
	if r.Turn == nil {
		return func(bool) {}, nil
	}
	return r.Turn(ctx)
}

// endFor ends the host so that it can be started anew.
func (r *run) endFor(ctx context.Context, s scenarios.Step) error {
	switch s.After {
	case record.OpKill:
		return r.endHost(ctx, record.OpKill, "SIGKILL", 0)
	case record.OpStop:
		return r.stopHost(ctx)
	}
	return r.endHost(ctx, record.OpTerm, proc.Asks, s.Grace)
}

// endSessions writes down that a life of the host has ended with all its sessions.
func (r *run) endSessions() {
	for name, label := range r.sessionsThat(func(s *session) bool { return s.state != record.SessionEnded }) {
		r.session(name, label, record.SessionEnded, true, record.WhyHostEnded)
	}
}

// sessionsThat are so, each with its label.
func (r *run) sessionsThat(are func(*session) bool) map[string]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	labels := map[string]string{}
	for name, s := range r.sessions {
		if are(s) {
			labels[name] = s.label
		}
	}
	return labels
}

// restarts says that a step, or one inside it, starts the host anew.
func restarts(s scenarios.Step) bool {
	return s.Op == record.OpRestart || slices.ContainsFunc(s.Steps, restarts) ||
		slices.ContainsFunc(s.Lanes, func(lane []scenarios.Step) bool { return slices.ContainsFunc(lane, restarts) })
}

// unlessRestarted joins errors. That the host was gone for some lanes means nothing where another one has started it anew.
func (r *run) unlessRestarted(errs ...error) error {
	if !r.gone() {
		errs = slices.DeleteFunc(errs, func(err error) bool { return errors.Is(err, errHostGone) })
	}
	return errors.Join(errs...)
}
