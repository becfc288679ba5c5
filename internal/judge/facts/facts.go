// Package facts answers what the laws ask of a run: what a checkpoint should not have found, whose doing something was,
// how a server was ended, what keeps a survivor, what was out of whose reach, how starved the machine was. Each answer
// follows from the run alone and stays the same whatever the laws make of it: nothing here breaks a law.
package facts

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const never = history.Never

// Facts are the history of a run with what follows from it.
type Facts struct {
	*history.History
	Header      record.Header // with the limits that the host was played under
	Truncated   string        // why the file is not complete, or ""
	Checkpoints []*Checkpoint
	Cycles      []*Cycle // the ends of the repetitions of the scenario

	servers  []*history.Server // in the order of their births
	keeperAt int64             // when the keeper was lost

	launcherSessions map[int]bool // see leadByLaunchers
}

// Of are the facts of a run.
func Of(run *record.Run) *Facts {
	f := &Facts{History: history.Of(run), Header: run.Played(), Truncated: run.Truncated, keeperAt: never}
	f.servers = f.Servers()
	for _, e := range slices.Backward(f.Doubts()) {
		if e.Doubt.Code == record.DoubtKeeperLost {
			f.keeperAt = e.T
		}
	}
	for _, look := range f.Censuses() {
		if c := look.Cycle; c != nil {
			f.Cycles = append(f.Cycles, f.cycleOf(*c, fmt.Sprintf("cycle %d", c.N), look))
		}
	}
	f.replay()
	return f
}

// Left counts what outlived the host: what the last look saw, and what the keeper swept. A sweep that took the host
// as well shows nothing: the bench ended it all before its time.
func (f *Facts) Left() int {
	left := map[record.Identity]bool{}
	for _, cp := range slices.Backward(f.Checkpoints) {
		if census := cmp.Or(cp.Confirm, cp.Settled); cp.HostGone && census != nil {
			for _, p := range census.Processes {
				left[p.Identity] = p.State != record.StateZombie
			}
			break
		}
	}
	if _, all := f.Swept()[f.Host().Identity]; !all {
		for id, p := range f.Swept() {
			left[id] = left[id] || p.State != record.StateZombie
		}
	}
	n := 0
	for _, is := range left {
		if is {
			n++
		}
	}
	return n
}
