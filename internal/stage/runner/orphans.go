package runner

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

const (
	orphansDeadline = 10 * time.Second
	orphansLook     = 20 * time.Millisecond
)

// sweepWithoutKeeper ends what the keeper would have ended. The servers are those that the ledger knows; where the
// bench is a subreaper, what was below the keeper has come home to it.
func (r *run) sweepWithoutKeeper(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, orphansDeadline, errTooSlow)
	defer cancel()
	for _, s := range r.alive() {
		_ = proc.Signal(s.Birth.Identity, killSignal)
	}
	if id := r.current().id; id.PID != 0 {
		_ = proc.Signal(id, killSignal)
	}
	table, swept := proc.NewTable(), map[record.Identity]bool{}
	for {
		rows, err := table.Below(os.Getpid())
		if err != nil {
			return fmt.Errorf("failed to look for what the keeper left: %w", err)
		}
		left := r.orphans(rows)
		if len(left) == 0 {
			return nil
		}
		if fresh := slices.DeleteFunc(slices.Clone(left), func(p record.Process) bool { return swept[p.Identity] }); len(fresh) > 0 {
			r.emit(record.Event{Kind: record.Swept, Census: &record.Census{Processes: fresh}})
		}
		for _, p := range left {
			swept[p.Identity] = true
			if p.State != record.StateZombie {
				_ = proc.Signal(p.Identity, killSignal)
			} else if p.PPID == os.Getpid() {
				reap(p.PID)
			}
		}
		timer := time.NewTimer(orphansLook)
		select {
		case <-timer.C: // the end of a process that is nobody's child sends no word
		case <-ctx.Done():
			timer.Stop()
			r.doubt(record.DoubtSweep, "%d processes that the keeper left could not be ended", len(left))
			return nil
		}
	}
}

// orphans are the rows of what was below the keeper of this run: in its session, with the run's token in its command
// line or environment, seen by a census, or below one of those.
func (r *run) orphans(rows []record.Process) []record.Process {
	watcher := r.keeper.Hello.PID
	ours := map[int]bool{}
	for again := true; again; {
		again = false
		for _, p := range rows {
			if !ours[p.PID] && p.PID != watcher && (p.SID == watcher || ours[p.PPID] || r.isMarked(p) || r.wasBelow(p.Identity)) {
				ours[p.PID], again = true, true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(p record.Process) bool { return !ours[p.PID] })
}

// isMarked says that the run's token is in the command line or in the environment.
func (r *run) isMarked(p record.Process) bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, r.id) }) ||
		proc.HasEnv(p.Identity, keeper.RunEnv+"="+r.id)
}

// wasBelow says that a census of the keeper's has seen the process.
func (r *run) wasBelow(id record.Identity) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.below[id]
}
