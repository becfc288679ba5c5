package verdict

import (
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// checkpoint is a checkpoint with what was seen at it.
type checkpoint struct {
	record.Checkpoint
	begunIndex, settledIndex           int
	begun, settledAt, confirmAt, ended int64
	settled, confirm                   *record.Census
	settledRows, confirmRows           rows
	evidence                           map[record.Identity]record.Evidence

	alive   []*history.Server // as the ledger had it when the settle time was over
	extra   []*history.Server // those of them that should have been gone
	missing []record.Want
	// explained says that a law, or a doubt, says why it did not come to rest.
	explained bool
}

func (f *facts) noteCheckpoint(i int) {
	e := &f.events[i]
	switch e.Kind {
	case record.CheckpointBegun:
		f.checkpoints = append(f.checkpoints, &checkpoint{
			Checkpoint: *e.Checkpoint, begun: e.T, settledAt: never, confirmAt: never, ended: never,
			begunIndex: i, evidence: map[record.Identity]record.Evidence{},
		})
	case record.EvidenceTaken:
		if n := len(f.checkpoints); n > 0 {
			for _, ev := range e.Evidence {
				f.checkpoints[n-1].evidence[ev.Identity] = ev
			}
		}
	case record.CheckpointEnded:
		if cp := f.underWay(e.Checkpoint.Name); cp != nil {
			cp.ended, cp.Quiet, cp.Waited = e.T, e.Checkpoint.Quiet, e.Checkpoint.Waited
		}
	}
}

func (f *facts) underWay(name string) *checkpoint {
	for _, cp := range slices.Backward(f.checkpoints) {
		if cp.Name == name && cp.ended < 0 {
			return cp
		}
	}
	return nil
}

func (f *facts) noteCensus(i int) {
	e := &f.events[i]
	for _, p := range e.Census.Processes {
		if _, seen := f.zombieSince[p.Identity]; p.State == record.StateZombie && !seen {
			f.zombieSince[p.Identity] = e.T
		}
		if f.carriesServer(p) {
			f.wrappers[p.PID] = true
		}
	}
	cp := f.underWay(e.Census.Checkpoint)
	if cp == nil {
		return
	}
	switch {
	case e.Census.Role == record.CensusSettled && cp.settled == nil:
		cp.settled, cp.settledRows, cp.settledAt, cp.settledIndex = e.Census, rowsOf(e.Census), e.T, i
	case e.Census.Role == record.CensusConfirm && cp.settled != nil:
		cp.confirm, cp.confirmRows, cp.confirmAt = e.Census, rowsOf(e.Census), e.T
	}
}

// isFake knows a fake server of this run by its command line.
func (f *facts) isFake(p record.Process) bool {
	return len(p.Args) > 1 && p.Args[1] == "fakeserver" && slices.Contains(p.Args, f.header.ID)
}

// carriesServer says that a command line holds that of a fake server of this
// run: a shell, or a launcher like npx.
func (f *facts) carriesServer(p record.Process) bool {
	return f.header.ID != "" && slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, f.header.ID) })
}

// blur is how much later than the look that it belongs to a census may stand
// in the file. What was wrong for a shorter time is not held against a host.
func (f *facts) blur() int64 {
	half := f.header.Limits.Quiet.D() / 2
	return int64(min(max(half, 10*time.Millisecond), 250*time.Millisecond))
}

// replay folds the events into lives, and looks at each checkpoint twice: when
// its settle time was over, and a moment earlier. Only what both looks show is
// held against the host: between the look that the runner took and its census
// in the file, a server may have been born.
func (f *facts) replay() {
	f.lives = history.New(f.header.ID)
	before, at := map[int][]*checkpoint{}, map[int]*checkpoint{}
	for _, cp := range f.checkpoints {
		if cp.settled == nil {
			continue
		}
		i := cp.settledIndex
		for i > cp.begunIndex && f.events[i].T > cp.settledAt-f.blur() {
			i--
		}
		before[i] = append(before[i], cp)
		at[cp.settledIndex] = cp
	}
	extraBefore := map[*checkpoint]map[string]bool{}
	for i, e := range f.events {
		f.lives.Apply(e)
		for _, cp := range before[i] {
			extra, _ := f.lives.Reconcile(cp.Wants)
			ids := map[string]bool{}
			for _, s := range extra {
				ids[s.ID] = true
			}
			extraBefore[cp] = ids
		}
		if cp := at[i]; cp != nil {
			f.look(cp, extraBefore[cp])
		}
	}
}

func (f *facts) look(cp *checkpoint, before map[string]bool) {
	cp.alive = slices.Clone(f.lives.Alive())
	extra, missing := f.lives.Reconcile(cp.Wants)
	for _, s := range extra {
		if before[s.ID] {
			cp.extra = append(cp.extra, s)
		}
	}
	cp.missing = missing
}

// watchedUntil is until when survivors of the checkpoint were watched.
func (f *facts) watchedUntil(cp *checkpoint) int64 {
	switch {
	case cp.confirmAt >= 0:
		return cp.confirmAt
	case cp.ended >= 0:
		return cp.ended
	}
	return f.lastT
}

// rows are the processes of a census, by identity.
type rows map[record.Identity]*record.Process

func rowsOf(c *record.Census) rows {
	all := rows{}
	for i := range c.Processes {
		p := &c.Processes[i]
		all[p.Identity] = p
		all[record.Identity{PID: p.PID}] = p // for a birth whose process could not be identified
	}
	return all
}

// alive says that a process is there, and no zombie.
func (r rows) alive(id record.Identity) bool {
	p := r[id]
	return p != nil && p.State != record.StateZombie
}

// evidenceOn is what was found out about a process at a checkpoint, or nil.
func (cp *checkpoint) evidenceOn(id record.Identity) *record.Evidence {
	if e, ok := cp.evidence[id]; ok {
		return &e
	}
	return nil
}
