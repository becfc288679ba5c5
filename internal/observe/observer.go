package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/observe/outside"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
)

// Params say what is observed, and ask the runner for what it alone knows.
type Params struct {
	Self     string // the program that is also the keeper
	Dir      string // folder of the run; made, must not hold a run yet
	NoCgroup bool   // see keeper.Params

	Lock sync.Locker        // guards the file, and what Seen changes
	Seen func(record.Event) // is shown each event once it is in the file, under the lock

	OnExit   func(keeper.Exited)  // see keeper.Params
	OnSignal func(outside.Signal) // takes signals from outside of the run; nil: nobody looks for them
	// Known are processes of the run wherever they are; nil: only those below the keeper are of the run.
	Known func() []record.Identity
	// Roles are those of processes other than the bench and the keeper; nil: no other has one.
	Roles func() map[record.Identity]record.HolderRole
	// Left is what is known of what a keeper that has died has left.
	Left func() keeper.Left
}

// Observer is a run with a keeper: its file, and what sees the processes of the run.
type Observer struct {
	*File
	ID     string
	Tmp    string // folder of the sockets
	Keeper *keeper.Keeper

	params  Params
	loads   patience.Loads
	oom     outside.OOM
	signals *outside.Signals
}

// New makes a run that has its file, and nothing else yet.
func New(p Params) (*Observer, error) {
	file, err := Create(filepath.Join(p.Dir, RunFile), p.Lock, p.Seen)
	if err != nil {
		return nil, err
	}
	return &Observer{File: file, ID: newID(), params: p}, nil
}

// Open starts the keeper. All that is started from here on is of the run.
func (o *Observer) Open(ctx context.Context) (err error) {
	if o.Tmp, err = ledger.NewDir(); err != nil {
		return err
	}
	o.oom.Killed(0) // what was before is none of this run's
	if o.params.OnSignal != nil {
		o.signals, _ = outside.WatchSignals(o.params.OnSignal) // where the kernel does not tell who sends signals, it is taken for the host
	}
	o.Keeper, err = keeper.Start(ctx, keeper.Params{
		Self: o.params.Self, Dir: o.Tmp, Log: filepath.Join(o.params.Dir, KeeperLog), Run: o.ID, OnExit: o.params.OnExit,
		NoCgroup: o.params.NoCgroup,
	})
	if err != nil {
		return err
	}
	go o.loads.Listen(o.Keeper.Done())
	return nil
}

// WriteHeader writes the first line of the file, with what each header has.
func (o *Observer) WriteHeader(h record.Header) error {
	h.ID = o.ID
	return o.File.WriteHeader(Header(h))
}

// WhileKept is ctx for what makes no sense without a keeper: nobody would tell of the host's exit, and nothing of what is left could be
// seen.
func (o *Observer) WhileKept(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go bug.Guarded(func() {
		select {
		case <-o.Keeper.Done():
			cancel(o.Keeper.Gone())
		case <-ctx.Done():
		}
	})()
	return ctx, func() { cancel(nil) }
}

// KilledForMemory says that the kernel may have killed a process for want of memory.
func (o *Observer) KilledForMemory(pid int) bool { return o.oom.Killed(pid) }

const tearDownWithin = 30 * time.Second

// TearDown ends what is left, and the file of a run whose play came to an error, or to none. What the runner itself has to end it ends in
// between, once the processes are swept. It runs under a context of its own: an interrupted run is cleaned up like any other.
func (o *Observer) TearDown(ctx context.Context, err error, between func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tearDownWithin)
	defer cancel()
	if stop := (Interrupted{}); errors.As(err, &stop) && stop.Stacks != "" {
		err = errors.Join(err, os.WriteFile(filepath.Join(o.params.Dir, benchLog), []byte(stop.Stacks), 0o600))
	}
	if o.Keeper != nil {
		err = errors.Join(err, bug.Catch(func() error { o.sweep(ctx); return nil }))
	}
	o.signals.Close()
	err = errors.Join(err, between(ctx))
	o.oom.Close()
	err = errors.Join(err, o.End(err))
	if o.Keeper != nil {
		err = errors.Join(err, o.Keeper.Close())
	}
	if o.Tmp != "" {
		err = errors.Join(err, ledger.RemoveDir(o.Tmp))
	}
	if err == nil {
		return nil
	}
	return shown{err}
}

// Undo is TearDown for a run that could not begin. Its files are removed: there is nothing in them.
func (o *Observer) Undo(ctx context.Context, why error, between func(context.Context) error) error {
	err := o.TearDown(ctx, why, between)
	for _, name := range []string{RunFile, KeeperLog} {
		_ = os.Remove(filepath.Join(o.params.Dir, name))
	}
	if errors.As(why, new(Interrupted)) || errors.Is(why, record.ErrWrite) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrSetUp, err)
}

// sweep kills what is left below the keeper and writes down what that was.
func (o *Observer) sweep(ctx context.Context) {
	swept, err := o.Keeper.Sweep(ctx)
	o.emitSwept(swept)
	switch {
	case errors.Is(err, keeper.ErrGone):
		o.sweepWithoutKeeper()
	case err != nil:
		o.Doubt(record.DoubtSweep, "the final sweep could not end every process: %v", err)
	}
}

// sweepWithoutKeeper ends what the keeper would have ended.
func (o *Observer) sweepWithoutKeeper() {
	swept, err := o.Keeper.SweepInItsPlace(o.params.Left())
	o.emitSwept(swept)
	if err != nil {
		o.Doubt(record.DoubtSweep, "processes that the keeper left could not be ended: %v", err)
	}
}

func (o *Observer) emitSwept(swept []record.Process) {
	if len(swept) > 0 {
		o.Emit(record.Event{Kind: record.Swept, Census: &record.Census{Processes: swept}})
	}
}
