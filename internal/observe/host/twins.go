package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/outside"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/scenarios"
)

// startControls has each label's server launched once without the host. It
// returns a function that ends that, patiently or at once, with the bug that was met.
func (r *run) startControls(ctx context.Context) (finish func(patient bool) error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var failed *bug.Panic
	p := ControlParams{
		Self: r.Self, Log: filepath.Join(r.Dir, observe.KeeperLog), Run: r.ID, Servers: slices.Clone(r.Scenario.Servers),
		Done: func(c record.Control) { r.Emit(record.Event{Kind: record.Controlled, Control: &c}) },
	}
	go guarded(func() {
		defer close(done)
		if err := TryControl(ctx, p); !errors.As(err, &failed) && err != nil && ctx.Err() == nil {
			r.Doubt(record.DoubtNoControl, "the servers could not be tried without the host: %v", err)
		}
	})()
	return func(patient bool) error {
		if !patient {
			cancel()
		}
		<-done
		cancel()
		if failed != nil {
			return failed
		}
		return nil
	}
}

// startTwins starts, for each label that the host is given, a process with the very command line of one of its
// servers. It is none of the host's: one that chooses whom to end by the command line ends it, too.
func (r *run) startTwins(ctx context.Context) {
	env := append(os.Environ(), fakeserver.TwinMark+"=1")
	for _, label := range r.labels {
		session := ""
		if !r.isCommand() {
			session = firstSession(r.Scenario.Steps, label)
		}
		twin, err := r.Keeper.StartTwin(ctx, r.script(label).Argv(r.Self, r.ledger.Path(), r.ID, label, session), env)
		if err != nil {
			r.Doubt(record.DoubtNoTwin,
				"no process with the command line of %s could be put beside the host, so it is unknown whether the host ends "+
					"processes that only look like its server: %v",
				label, err)
			continue
		}
		r.locked(func() { r.twins[twin.Identity] = label })
		twin.Args = redact.Args(twin.Args)
		r.Emit(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: label, Process: &twin})
	}
}

// firstSession is the first session that the steps open on a server, or "".
func firstSession(steps []scenarios.Step, label string) string {
	for _, s := range steps {
		if s.Op == record.OpOpen && s.Label == label {
			return s.Session
		}
		for _, inner := range append([][]scenarios.Step{s.Steps}, s.Lanes...) {
			if name := firstSession(inner, label); name != "" {
				return name
			}
		}
	}
	return ""
}

// recycle gives the pid of a session's server, which must be gone, to a process that is none of the host's.
func (r *run) recycle(ctx context.Context, s scenarios.Step) error {
	step := record.Step{Op: s.Op, Session: s.Session, Label: r.labelOf(s.Session), Defining: s.Defining}
	step, begun := r.begin(step), time.Now()
	r.end(step, begun, r.recycleLast(ctx, s.Session))
	return context.Cause(ctx)
}

func (r *run) recycleLast(ctx context.Context, session string) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.limits.Settle.D(), errors.New("its server is not gone"))
	defer cancel()
	var last history.Server
	err := r.wait(limited, func(l *history.History) bool {
		for _, srv := range l.Servers() {
			if srv.Session == session {
				last = *srv
			}
		}
		return last.Died >= 0 && last.ID != ""
	})
	if err != nil {
		return err
	}
	row, err := r.Keeper.Recycle(ctx, cmp.Or(last.Birth.Claimed, last.Birth.PID))
	if err != nil {
		return err
	}
	r.locked(func() { r.twins[row.Identity] = last.ID })
	r.Emit(record.Event{Kind: record.BystanderSeen, Text: record.StandsRecycled, Server: last.ID, Process: &row})
	return nil
}

// bystanderEnded writes down that somebody ended a process that is none of the host's, and whose end the keeper was to be.
func (r *run) bystanderEnded(e keeper.Exited) {
	ended := record.Event{Kind: record.BystanderSeen, Process: &e.Process, Exit: &e.Exit}
	r.locked(func() { ended.Server = r.twins[e.Identity] })
	switch {
	case e.Twin:
		ended.Text = record.StandsAsTwin
	case e.Recycled:
		ended.Text = record.StandsRecycled
	}
	r.Emit(ended)
}

// signalledFromOutside writes down that somebody else has sent a server a signal that may end it.
func (r *run) signalledFromOutside(s outside.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, server := range slices.Backward(r.lives.Servers()) {
		if server.Birth.PID == s.To {
			r.Write(record.Event{Kind: record.Doubted, Server: server.ID, Doubt: &record.Doubt{
				Code: record.DoubtOutside,
				Text: fmt.Sprintf("%s was sent %s by %q (pid %d), which neither the host nor leakbench has started",
					server.ID, proc.SignalName(s.Signal), s.Comm, s.From),
			}})
			return
		}
	}
}
