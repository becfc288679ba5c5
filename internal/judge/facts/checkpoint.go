package facts

import (
	"cmp"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// Checkpoint is a checkpoint with what the ledger had at it.
type Checkpoint struct {
	*history.Checkpoint
	Alive        []*history.Server // when the settle time was over
	Extra        []*history.Server // those of them that should have been gone
	Missing      []record.Want
	Strays       []history.Stray // no servers, and likewise
	WatchedUntil int64           // until when its survivors were watched
}

// Blur is how much later than the look that it belongs to a census may stand
// in the file. What was wrong for a shorter time is not held against a host.
func (f *Facts) Blur() int64 {
	half := f.Header.Limits.Quiet.D() / 2
	return int64(min(max(half, 10*time.Millisecond), 250*time.Millisecond))
}

// replay folds the events once more, and looks at each checkpoint twice: when its settle time was over, and a moment
// earlier. Only what both looks show is held against the host: between the look that the runner took and its census
// in the file, a server may have been born.
func (f *Facts) replay() {
	before, at := map[int][]*Checkpoint{}, map[int]*Checkpoint{}
	for _, c := range f.History.Checkpoints() {
		cp := &Checkpoint{Checkpoint: c}
		cp.WatchedUntil = f.watchedUntil(cp)
		f.Checkpoints = append(f.Checkpoints, cp)
		if cp.Settled == nil {
			continue
		}
		i := cp.SettledIndex
		for i > cp.BegunIndex && f.Events()[i].T > cp.SettledAt-f.Blur() {
			i--
		}
		before[i] = append(before[i], cp)
		at[cp.SettledIndex] = cp
	}
	then := history.New(f.Header.ID)
	for i, e := range f.Events() {
		then.Apply(e)
		for _, cp := range before[i] {
			cp.Extra, _ = then.Reconcile(cp.Wants)
		}
		if cp := at[i]; cp != nil {
			f.look(cp, then)
		}
	}
}

func (f *Facts) look(cp *Checkpoint, then *history.History) {
	extra, missing := then.Reconcile(cp.Wants)
	still := slices.DeleteFunc(extra, func(s *history.Server) bool { return !slices.Contains(cp.Extra, s) })
	cp.Alive, cp.Extra, cp.Missing = f.known(then.Alive()), f.known(still), missing
	if !cp.HostGone && !cp.Quiet { // what was quiet had none
		cp.Strays = then.Strays(cp.Wants, cp.Settled.Processes)
		slices.SortFunc(cp.Strays, func(a, b history.Stray) int { return cmp.Or(a.PID-b.PID, cmp.Compare(a.Start, b.Start)) })
	}
}

// known are the same servers, with all that became of them later.
func (f *Facts) known(servers []*history.Server) []*history.Server {
	for i, s := range servers {
		servers[i] = f.Server(s.ID)
	}
	return servers
}

// Watched says that the survivors were watched after the settle time: one that has gone meanwhile is late. Where the user wanted no long
// wait, the settle time itself may not have been over.
func (cp *Checkpoint) Watched() bool { return cp.Early != record.EarlyFast || cp.Confirm != nil }

func (f *Facts) watchedUntil(cp *Checkpoint) int64 {
	switch {
	case cp.ConfirmAt >= 0:
		return cp.ConfirmAt
	case cp.Ended >= 0:
		return cp.Ended
	}
	return f.Last()
}

// spinning is the share of a processor from which on a process counts as busy: one that waits uses none.
const spinning = 0.5

// contended is the share from which on one counts that was ready to run at both looks: one that waits is not.
const contended = 0.05

// Spins says that a process is busy: with half a processor, or, where others
// want the processors too, with some of one, ready to run at both looks.
func (cp *Checkpoint) Spins(id record.Identity) bool {
	return cp.Load(id) >= spinning || cp.Contended(id)
}

// Contended says that a process is busy, and others left it less than half a processor.
func (cp *Checkpoint) Contended(id record.Identity) bool {
	share := cp.Load(id)
	before, after := cp.SettledRows[id], cp.ConfirmRows[id]
	return share < spinning && share >= contended && before.State == record.StateRunning && after.State == record.StateRunning
}

// Load is the share of a processor that a process used between the two looks at a checkpoint.
func (cp *Checkpoint) Load(id record.Identity) float64 {
	before, after := cp.SettledRows[id], cp.ConfirmRows[id]
	if before == nil || after == nil || cp.ConfirmAt-cp.SettledAt < int64(1e8) {
		return 0
	}
	return min(float64(after.CPU-before.CPU)/float64(cp.ConfirmAt-cp.SettledAt), 64)
}
