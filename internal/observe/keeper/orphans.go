package keeper

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// Left is what is known of the processes that a keeper which is gone has left.
type Left struct {
	Host     record.Identity            // its latest life, or nobody
	Attached bool                       // the keeper had not started the host: it lives on, and waits for its own children
	Servers  []record.Identity          // that the ledger holds for alive
	Knows    func(record.Identity) bool // says that a process was seen below the keeper, or by the ledger
}

// SweepInItsPlace ends what the keeper, which is gone, would have ended, and returns what it found. Where the bench is a
// subreaper, what was below the keeper has come home to it.
func (k *Keeper) SweepInItsPlace(left Left) ([]record.Process, error) {
	for _, id := range left.Servers {
		_ = proc.Signal(id, syscall.SIGKILL)
	}
	if id := left.Host; id.PID != 0 && !left.Attached {
		_ = proc.Signal(id, syscall.SIGKILL)
	}
	table, reaped := proc.NewTable(), make(chan struct{}, 1)
	ours, dead := map[record.Identity]bool{}, map[record.Identity]bool{}
	s := sweeper{
		reaped:  reaped,
		isOther: func(id record.Identity) bool { return !ours[id] && !k.hasToken(id) },
		look: func() ([]record.Process, error) {
			rows, err := table.Below(os.Getpid())
			there := k.orphans(rows, ours, left.Knows)
			if left.Attached {
				return slices.DeleteFunc(there, func(p record.Process) bool { return p.State == record.StateZombie }), err
			}
			for _, p := range rows {
				if p.State != record.StateZombie || p.PPID != os.Getpid() || dead[p.Identity] {
					continue
				}
				if dead[p.Identity] = true; ours[p.Identity] {
					reapOrphan(p.PID)
				}
				select { // one that lived too shortly to be known was somebody's who forks
				case reaped <- struct{}{}:
				default:
				}
			}
			return there, err
		},
	}
	return s.sweep()
}

// orphans are the rows of what was below the keeper of this run: in its session, with the run's token in its command
// line or environment, seen by a census, or below one of those. They are entered as ours.
func (k *Keeper) orphans(rows []record.Process, ours map[record.Identity]bool, knows func(record.Identity) bool) []record.Process {
	watcher := k.Hello.PID
	pids := map[int]bool{}
	for _, p := range rows {
		if p.PID != watcher && (ours[p.Identity] || p.SID == watcher || k.isMarked(p) || knows(p.Identity)) {
			pids[p.PID] = true
		}
	}
	proc.AddDescendants(pids, slices.Values(rows))
	there := slices.DeleteFunc(slices.Clone(rows), func(p record.Process) bool { return p.PID == watcher || !pids[p.PID] })
	for _, p := range there {
		ours[p.Identity] = true
	}
	return there
}

// isMarked says that the run's token is in the command line or in the environment. Without a token nothing is marked.
func (k *Keeper) isMarked(p record.Process) bool {
	return k.p.Run != "" && slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, k.p.Run) }) ||
		k.hasToken(p.Identity)
}

func (k *Keeper) hasToken(id record.Identity) bool {
	return k.p.Run != "" && proc.HasEnv(id, runEnv+"="+k.p.Run)
}
