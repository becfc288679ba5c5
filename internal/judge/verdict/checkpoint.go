package verdict

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// checkpoint is a checkpoint with what the ledger had at it.
type checkpoint struct {
	*history.Checkpoint
	alive   []*history.Server // when the settle time was over
	extra   []*history.Server // those of them that should have been gone
	missing []record.Want
	strays  []history.Stray // no servers, and likewise
	// explained says that a law, or a doubt, says why it did not come to rest.
	explained bool
}

// blur is how much later than the look that it belongs to a census may stand
// in the file. What was wrong for a shorter time is not held against a host.
func (f *facts) blur() int64 {
	half := f.header.Limits.Quiet.D() / 2
	return int64(min(max(half, 10*time.Millisecond), 250*time.Millisecond))
}

// replay folds the events once more, and looks at each checkpoint twice: when its settle time was over, and a moment
// earlier. Only what both looks show is held against the host: between the look that the runner took and its census
// in the file, a server may have been born.
func (f *facts) replay() {
	before, at := map[int][]*checkpoint{}, map[int]*checkpoint{}
	for _, c := range f.Checkpoints() {
		cp := &checkpoint{Checkpoint: c}
		f.checkpoints = append(f.checkpoints, cp)
		if cp.Settled == nil {
			continue
		}
		i := cp.SettledIndex
		for i > cp.BegunIndex && f.Events()[i].T > cp.SettledAt-f.blur() {
			i--
		}
		before[i] = append(before[i], cp)
		at[cp.SettledIndex] = cp
	}
	then := history.New(f.header.ID)
	for i, e := range f.Events() {
		then.Apply(e)
		for _, cp := range before[i] {
			cp.extra, _ = then.Reconcile(cp.Wants)
		}
		if cp := at[i]; cp != nil {
			f.look(cp, then)
		}
	}
}

func (f *facts) look(cp *checkpoint, then *history.History) {
	extra, missing := then.Reconcile(cp.Wants)
	still := slices.DeleteFunc(extra, func(s *history.Server) bool { return !slices.Contains(cp.extra, s) })
	cp.alive, cp.extra, cp.missing = f.known(then.Alive()), f.known(still), missing
	cp.strays = straysAt(cp, then)
}

// known are the same servers, with all that became of them later.
func (f *facts) known(servers []*history.Server) []*history.Server {
	for i, s := range servers {
		servers[i] = f.Server(s.ID)
	}
	return servers
}

// watchedUntil is until when survivors of the checkpoint were watched.
func (f *facts) watchedUntil(cp *checkpoint) int64 {
	switch {
	case cp.ConfirmAt >= 0:
		return cp.ConfirmAt
	case cp.Ended >= 0:
		return cp.Ended
	}
	return f.Last()
}
