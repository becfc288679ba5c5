package verdict

import (
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/doubts"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

const never = history.Never

// casefile is the facts of a run, and what the laws have made of them so far.
type casefile struct {
	*breach.Book
	doubts.Told
	servers []*history.Server // in the order of their births

	live map[*facts.Checkpoint]map[[2]string]int // of one checkpoint: how many it wants of each label and session
}

// open begins the casefile of a run.
func open(run *record.Run) *casefile {
	f := &casefile{Book: &breach.Book{Facts: facts.Of(run)}}
	f.Harmed, f.Blamed, f.Explained = map[facts.SessionKey]int64{}, map[int]bool{}, map[*facts.Checkpoint]bool{}
	f.servers = f.Servers()
	return f
}

// tell completes what the laws have told by what they could not decide.
func (f *casefile) tell(laws []LawResult) doubts.Told {
	for _, e := range f.Unsure {
		if f.severity(e.Law) != record.SeverityOff && !f.Broke(e.Law) { // where others break the same law for certain, it is broken
			f.Starved = append(f.Starved, e)
		}
	}
	for _, r := range laws {
		if r.Status == LawNotJudged {
			f.Unjudged = append(f.Unjudged, breach.Unjudged{Law: r.Law, Reason: r.Reason})
		}
	}
	return f.Told
}
