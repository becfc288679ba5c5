package verdict

import (
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

const never = history.Never

// casefile is the facts of a run, and what the laws have made of them so far.
type casefile struct {
	*facts.Facts
	servers     []*history.Server // in the order of their births
	checkpoints []*checkpoint

	breaches    []*breach
	excused     []excuse                   // breaches that may be the machine's
	harmed      map[facts.SessionKey]int64 // when L3 found the session harmed
	connections int                        // servers that may be connections of their own
	daemons     []record.Identity
	blamed      map[int]bool // numbers of the steps whose failure a law explains
	doubts      []Doubt
}

// checkpoint is a checkpoint, and whether a law, or a doubt, says why it did not come to rest.
type checkpoint struct {
	*facts.Checkpoint
	explained bool
}

// open begins the casefile of a run.
func open(run *record.Run) *casefile {
	f := &casefile{Facts: facts.Of(run), harmed: map[facts.SessionKey]int64{}, blamed: map[int]bool{}}
	f.servers = f.Servers()
	for _, cp := range f.Checkpoints {
		f.checkpoints = append(f.checkpoints, &checkpoint{Checkpoint: cp})
	}
	return f
}

// late takes in a breach that is one by the clock alone: from one time to another it took longer than it may. Where
// the machine was so starved meanwhile that it need not have been the host, it is a doubt.
func (f *casefile) late(b *breach, from, to int64, limit time.Duration) {
	if f.MayBeTheMachines(from, to, limit) {
		f.excused = append(f.excused, excuse{b, from, to})
		return
	}
	f.broken(b)
}

// excuse is a breach that may be the machine's.
type excuse struct {
	*breach
	from, to int64
}

// doubtStarved says what took too long on a machine that was starved. Where others break the same law for certain, it is broken.
func (f *casefile) doubtStarved() {
	for _, e := range f.excused {
		if f.severity(e.law) == record.SeverityOff || f.broke(e.law) {
			continue
		}
		share, _ := f.StarvedBetween(e.from, e.to)
		also := ""
		if waited, known := f.Waited(e.from, e.to); known {
			also = ", and the processes of the run had to wait " + prose.Span(int64(waited))
		}
		f.doubt(record.DoubtStarved, "%s (%s) can't be judged by the clock: %s; the machine was starved meanwhile (%d %% of the time in which leakbench wanted a processor it had to wait for one%s)",
			e.law, law.Of(e.law).Name, e.value, int(100*share), also)
	}
}

// cutShort says that the run did not get to its end.
func (f *casefile) cutShort() bool { return f.End() != nil && !f.Done() }

// hostAlive says that the host had not been reaped at t.
func (f *casefile) hostAlive(t int64) bool {
	h := f.HostAt(t)
	return h.Exited < 0 || t < h.Exited
}
