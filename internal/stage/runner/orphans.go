package runner

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

// sweepWithoutKeeper ends what the keeper would have ended. The servers are those that the ledger knows; where the
// bench is a subreaper, what was below the keeper has come home to it.
func (r *run) sweepWithoutKeeper() {
	for _, s := range r.alive() {
		_ = proc.Signal(s.Birth.Identity, syscall.SIGKILL)
	}
	if id := r.current().id; id.PID != 0 {
		_ = proc.Signal(id, syscall.SIGKILL)
	}
	table, reaped := proc.NewTable(), make(chan struct{}, 1)
	ours, dead := map[record.Identity]bool{}, map[record.Identity]bool{}
	s := keeper.Sweeper{
		Reaped:  reaped,
		IsOther: func(id record.Identity) bool { return !ours[id] && !r.hasToken(id) },
		Look: func() ([]record.Process, error) {
			rows, err := table.Below(os.Getpid())
			left := r.orphans(rows, ours)
			for _, p := range rows {
				if p.State != record.StateZombie || p.PPID != os.Getpid() || dead[p.Identity] {
					continue
				}
				if dead[p.Identity] = true; ours[p.Identity] {
					reap(p.PID)
				}
				select { // one that lived too shortly to be known was somebody's who forks
				case reaped <- struct{}{}:
				default:
				}
			}
			return left, err
		},
	}
	swept, err := s.Sweep()
	if len(swept) > 0 {
		r.emit(record.Event{Kind: record.Swept, Census: &record.Census{Processes: swept}})
	}
	if err != nil {
		r.doubt(record.DoubtSweep, "what the keeper left could not be ended: %v", err)
	}
}

// orphans are the rows of what was below the keeper of this run: in its session, with the run's token in its command
// line or environment, seen by a census, or below one of those. They are entered as ours.
func (r *run) orphans(rows []record.Process, ours map[record.Identity]bool) []record.Process {
	watcher := r.keeper.Hello.PID
	pids := map[int]bool{}
	for again := true; again; {
		again = false
		for _, p := range rows {
			known := ours[p.Identity] || p.SID == watcher || pids[p.PPID]
			if !pids[p.PID] && p.PID != watcher && (known || r.isMarked(p) || r.wasBelow(p.Identity)) {
				pids[p.PID], ours[p.Identity], again = true, true, true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(p record.Process) bool { return !pids[p.PID] })
}

// isMarked says that the run's token is in the command line or in the environment.
func (r *run) isMarked(p record.Process) bool {
	return slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, r.id) }) || r.hasToken(p.Identity)
}

func (r *run) hasToken(id record.Identity) bool { return proc.HasEnv(id, keeper.RunEnv+"="+r.id) }

// wasBelow says that a census of the keeper's has seen the process, or the ledger.
func (r *run) wasBelow(id record.Identity) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives.Knows(id)
}
