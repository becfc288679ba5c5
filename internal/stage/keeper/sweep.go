package keeper

import (
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

const (
	sweepDeadline = 10 * time.Second
	// sweepLook is how often a sweep looks again where no reaped child wakes
	// it: a process two levels down dies without a word to the keeper.
	sweepLook = 20 * time.Millisecond
)

// sweep kills everything below the keeper, and what that forks meanwhile,
// until nothing is left. It returns what it found (zombies of the keeper's own
// aside: they were dead) and what it could not kill.
func (k *process) sweep() (found, left []record.Process) {
	k.live.Lock()
	k.swept = true
	k.live.Unlock()
	seen := map[record.Identity]bool{}
	deadline := time.Now().Add(sweepDeadline)
	timer := time.NewTimer(sweepLook)
	defer timer.Stop()
	for {
		rows, err := k.table.Below(os.Getpid())
		if err == nil && len(rows) == 0 {
			return found, nil
		}
		for _, row := range k.withoutOthers(slices.Clone(rows)) {
			ownZombie := row.State == record.StateZombie && row.PPID == os.Getpid()
			if !seen[row.Identity] && !ownZombie {
				seen[row.Identity] = true
				found = append(found, row)
			}
		}
		if time.Now().After(deadline) {
			return found, append(left, rows...)
		}
		k.group.kill()
		for _, row := range rows {
			if row.State != record.StateZombie {
				_ = proc.Signal(row.Identity, syscall.SIGKILL)
			}
		}
		timer.Reset(sweepLook)
		select {
		case <-k.reaped:
		case <-timer.C:
		}
	}
}
