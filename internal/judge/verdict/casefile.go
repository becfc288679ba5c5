package verdict

import (
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/doubts"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

const never = history.Never

// casefile is the facts of a run, and what the laws have made of them so far.
type casefile struct {
	*facts.Facts
	doubts.Told
	servers []*history.Server // in the order of their births

	breaches []*breach
	excused  []excuse // breaches that may be the machine's

	live map[*facts.Checkpoint]map[[2]string]int // of one checkpoint: how many it wants of each label and session
}

// open begins the casefile of a run.
func open(run *record.Run) *casefile {
	f := &casefile{Facts: facts.Of(run)}
	f.Harmed, f.Blamed, f.Explained = map[facts.SessionKey]int64{}, map[int]bool{}, map[*facts.Checkpoint]bool{}
	f.servers = f.Servers()
	return f
}

// late takes in a breach that is one by the clock alone: from one time to another it took longer than it may. Where
// the machine was so starved meanwhile that it need not have been the host, it is a doubt.
func (f *casefile) late(b *breach, from, to int64, limit time.Duration) {
	if f.MayBeTheMachines(from, to, limit) {
		f.excused = append(f.excused, excuse{b, from, to})
		return
	}
	b.since, b.over = from, to-from-int64(limit)
	f.broken(b)
}

// excuse is a breach that may be the machine's.
type excuse struct {
	*breach
	from, to int64
}

// tell completes what the laws have told by what they could not decide.
func (f *casefile) tell(laws []LawResult) doubts.Told {
	for _, e := range f.excused {
		if f.severity(e.law) != record.SeverityOff && !f.broke(e.law) { // where others break the same law for certain, it is broken
			f.Starved = append(f.Starved, doubts.Starved{Law: e.law, Value: e.value, From: e.from, To: e.to})
		}
	}
	for _, r := range laws {
		if r.Status == LawNotJudged {
			f.Unjudged = append(f.Unjudged, doubts.Unjudged{Law: r.Law, Reason: r.Reason})
		}
	}
	return f.Told
}
