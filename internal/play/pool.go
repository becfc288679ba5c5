package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// Player plays one cell, as Bench.One does.
type Player func(ctx context.Context, c Cell) (*verdict.Judged, error)

// Result is what a play of a cell came to.
type Result struct {
	Cell
	Index  int             // of the cell in the list
	Try    int             // from 1
	Beside bool            // others were played meanwhile
	Judged *verdict.Judged // nil where nothing was saved
	Err    error
	Took   time.Duration
}

// Pool plays cells side by side. Runs see neither each other's processes nor
// each other's orphans: each has a keeper and a ledger of its own.
type Pool struct {
	Play  Player
	Slots int // how many at the same time; 0 is as many as the machine carries
	// Again says why a cell is played once more, or "". It is then played alone: time limits are a host's, and a crowd may
	// have used them up.
	Again func(Result) string
	// Done sees each result as it comes in, and how many plays are still to come.
	// Calls do not overlap. What was cut short is not shown.
	Done func(r Result, left int)
	// Enough says that with this result nothing more need be played: what is under way is cut short. Calls do not overlap.
	Enough func(Result) bool
}

// ErrEnough is the cause of a context that ends because nothing more need be played. What is under way then counts as not made.
var ErrEnough = fmt.Errorf("%w: nothing more need be played", observe.Interrupted{Signal: "leakbench"})

// Run returns the results in the order of the cells, all tries of a cell beside each other. The error says that it was
// cut short by its context; what Enough has ended is just not there.
func (p Pool) Run(ctx context.Context, cells []Cell) ([]Result, error) {
	return p.run(ctx, cells, newStarts(Processors()))
}

func (p Pool) run(ctx context.Context, cells []Cell, starts *starts) ([]Result, error) {
	ended, enough := context.WithCancelCause(ctx)
	defer enough(nil)
	s := &shift{Pool: p, left: len(cells), enough: enough, room: newRoom(p.Slots), starts: starts}
	queue := make([]Result, len(cells))
	for i, c := range cells {
		c.Alone = c.Alone || len(cells) == 1
		queue[i] = Result{Cell: c, Index: i, Try: 1}
	}
	if p.Slots != 1 {
		queue = s.sideBySide(ended, queue)
	}
	for _, r := range queue {
		s.alone(ended, r)
	}
	slices.SortFunc(s.results, func(a, b Result) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Try, b.Try)) })
	if ctx.Err() != nil {
		return s.results, context.Cause(ctx)
	}
	return s.results, nil
}

// alone plays a cell until it need not be played again.
func (s *shift) alone(ctx context.Context, r Result) {
	defer bug.Ends()
	r.Alone, r.Turn = true, nil
	for ctx.Err() == nil {
		if r.Again = s.play(ctx, r); r.Again == "" {
			return
		}
		r.Try++
	}
}

// shift is a pool at work.
type shift struct {
	Pool
	enough context.CancelCauseFunc
	room   *room
	starts *starts

	mu      sync.Mutex
	left    int
	now     []*Result // under way
	results []Result
}

// sideBySide plays what need not be alone, and returns what has to be. What may take longest begins first, so that it is not what all
// the others have to be waited for.
func (s *shift) sideBySide(ctx context.Context, queue []Result) (alone []Result) {
	var wg sync.WaitGroup
	var again []Result
	queue = slices.Clone(queue)
	waits := map[*scenarios.Scenario]int{}
	for _, r := range queue {
		if r.Scenario != nil {
			waits[r.Scenario] = r.Scenario.Waits()
		}
	}
	slices.SortStableFunc(queue, func(a, b Result) int { return cmp.Compare(waits[b.Scenario], waits[a.Scenario]) })
	for _, r := range queue {
		if r.Alone {
			alone = append(alone, r)
			continue
		}
		if s.room.enter(ctx) != nil {
			break
		}
		if r.Host.Kind != record.KindServer { // whose checks wait for the first one to be answered
			r.Turn = func(ctx context.Context) (Over, error) { return s.starts.turn(ctx, r.Host.Spec) }
		}
		wg.Go(func() {
			defer bug.Ends()
			defer s.room.leave()
			if why := s.play(ctx, r); why != "" {
				r.Try, r.Again = r.Try+1, why
				s.mu.Lock()
				defer s.mu.Unlock()
				again = append(again, r)
			}
		})
	}
	wg.Wait()
	slices.SortFunc(again, func(a, b Result) int { return cmp.Compare(a.Index, b.Index) })
	return append(alone, again...)
}

// play fills in what is still to come of a result, and says why the cell is to be played once more, or "".
func (s *shift) play(ctx context.Context, r Result) (again string) {
	s.begin(&r)
	begun := time.Now()
	judged, err := s.one(ctx, r.Cell)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = slices.DeleteFunc(s.now, func(o *Result) bool { return o == &r })
	r.Judged, r.Err, r.Took = judged, err, time.Since(begun)
	if errors.Is(context.Cause(ctx), ErrEnough) {
		return "" // it says nothing
	}
	s.results = append(s.results, r)
	if ctx.Err() != nil {
		return ""
	}
	if s.Again != nil {
		again = s.Again(r)
	}
	if again == "" {
		s.left--
	}
	if s.Done != nil {
		s.Done(r, s.left)
	}
	if again == "" && s.Enough != nil && s.Enough(r) {
		s.enough(ErrEnough)
	}
	return again
}

// one plays a cell. A bug that it meets is no reason to lose the other runs.
func (s *shift) one(ctx context.Context, c Cell) (j *verdict.Judged, err error) {
	defer bug.Caught(&err)
	return s.Play(ctx, c)
}

// begin notes who is played beside whom.
func (s *shift) begin(r *Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Beside = len(s.now) > 0
	for _, other := range s.now {
		other.Beside = true
	}
	s.now = append(s.now, r)
}

// timed says that a clock made a finding, which a crowd on the machine may have pushed. (A wait that came to rest only
// because it was stretched is a doubt.)
func timed(f verdict.Finding) bool {
	kind := law.KindOf(f.Kind)
	return kind.Timed()
}

// Pushed says why a finding of those that are meant is to be made sure of alone, or "":
// a clock made it, and runs beside it may have pushed it.
func (r Result) Pushed(meant func(verdict.Finding) bool) string {
	if !r.Beside || r.Try > 1 || r.Judged == nil {
		return ""
	}
	if slices.ContainsFunc(r.Judged.Verdict.Findings, func(f verdict.Finding) bool { return timed(f) && !f.Firm && meant(f) }) {
		return "a finding rests on elapsed time"
	}
	return ""
}

// outweighs says that a run found something that does not go by the clock and that the one after it, alone, did not: a
// leak that was seen is a fact.
func outweighs(first, alone *verdict.Judged) bool {
	if first == nil || alone == nil {
		return alone == nil
	}
	return slices.ContainsFunc(first.Verdict.Findings, func(f verdict.Finding) bool {
		again := func(o verdict.Finding) bool { return o.Fingerprint == f.Fingerprint }
		return f.IsError() && !timed(f) && !slices.ContainsFunc(alone.Verdict.Findings, again)
	})
}

// undecided says that another try may come to a verdict: the host did not come up, or the run leaves a doubt, whatever it
// has found.
func undecided(r Result) bool {
	if r.Err != nil {
		return errors.Is(r.Err, observe.ErrHost)
	}
	return r.Judged != nil && (r.Judged.Verdict.Outcome == verdict.Inconclusive || len(r.Judged.Verdict.Doubts) > 0)
}

// Crowded says why a result is to be made sure of alone, or "": it was played beside others, and they may have made it.
func (r Result) Crowded() string {
	switch {
	case !r.Beside || r.Try > 1:
	case undecided(r) && r.Err != nil:
		return "the " + r.Host.Kind.Subject() + " did not come up beside other runs"
	case r.Err != nil || r.Judged == nil:
	case slices.ContainsFunc(r.Judged.Verdict.Doubts, r.byLoad):
		return "there was a doubt beside other runs"
	default:
		return r.Pushed(func(verdict.Finding) bool { return true })
	}
	return ""
}

// byLoad says that load may have made a doubt. It has no part in what the host does not offer, nor, where no step has come to a limit, in
// a fault that nobody met.
func (r Result) byLoad(d verdict.Doubt) bool {
	switch d.Code {
	case record.DoubtStepSkipped:
		return false
	case record.DoubtNotFired:
		return r.Judged.History == nil || slices.ContainsFunc(r.Judged.History.Steps(), (*history.Step).Failed)
	}
	return true
}
