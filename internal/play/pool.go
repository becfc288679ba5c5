package play

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/stage/fit"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/scenarios"
)

// Player plays one cell, as Bench.One does.
type Player func(ctx context.Context, c Cell) (*verdict.Judged, error)

// Result is what a play of a cell came to.
type Result struct {
	Cell
	Index  int             // of the cell in the list
	Try    int             // from 1
	Judged *verdict.Judged // nil where nothing was saved
	Err    error
	Took   time.Duration
}

// Pool plays cells side by side. Runs see neither each other's processes nor
// each other's orphans: each has a keeper and a ledger of its own.
type Pool struct {
	Play  Player
	Slots int // how many at the same time; 0 is 1
	// Again says whether a cell is played once more, which is then played alone:
	// time limits are a host's, and a crowd may have used them up.
	Again func(Result) bool
	// Done sees each result as it comes in, and how many plays are still to come.
	// Calls do not overlap. What was cut short is not shown.
	Done func(r Result, left int)
}

// Run returns the results in the order of the cells, all tries of a cell beside each other. The error says that it was cut short.
func (p Pool) Run(ctx context.Context, cells []Cell) ([]Result, error) {
	s := &shift{Pool: p, left: len(cells)}
	queue := make([]Result, len(cells))
	for i, c := range cells {
		queue[i] = Result{Cell: c, Index: i, Try: 1}
	}
	if p.Slots > 1 {
		queue = s.sideBySide(ctx, queue)
	}
	for _, r := range queue {
		r.Alone = true
		for ctx.Err() == nil && s.play(ctx, r) {
			r.Try++
		}
	}
	slices.SortFunc(s.results, func(a, b Result) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Try, b.Try)) })
	if ctx.Err() != nil {
		return s.results, context.Cause(ctx)
	}
	return s.results, nil
}

// shift is a pool at work.
type shift struct {
	Pool

	mu      sync.Mutex
	left    int
	results []Result
}

// sideBySide plays what need not be alone, and returns what has to be.
func (s *shift) sideBySide(ctx context.Context, queue []Result) (alone []Result) {
	var wg sync.WaitGroup
	var again []Result
	slots := make(chan struct{}, s.Slots)
	for _, r := range queue {
		if r.Alone {
			alone = append(alone, r)
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if s.play(ctx, r) {
				r.Try++
				s.mu.Lock()
				defer s.mu.Unlock()
				again = append(again, r)
			}
		})
	}
	wg.Wait()
	return append(alone, again...)
}

// play fills in what is still to come of a result, and says whether the cell is to be played once more.
func (s *shift) play(ctx context.Context, r Result) (again bool) {
	begun := time.Now()
	r.Judged, r.Err = s.Play(ctx, r.Cell)
	r.Took = time.Since(begun)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results = append(s.results, r)
	if ctx.Err() != nil {
		return false
	}
	if again = s.Again != nil && s.Again(r); !again {
		s.left--
	}
	if s.Done != nil {
		s.Done(r, s.left)
	}
	return again
}

// Series is each of some scenarios on one host, so many times, one after the other.
type Series struct {
	Scenarios []*scenarios.Scenario
	Host      Host
	Seed      uint64 // 0: each play draws its own
	Repeat    int    // 0 is 1
	Retries   int    // how often a play without a verdict is tried again
}

// Play plays the series. A leak is a fact, so only a run without a verdict is tried again. The error of a try that
// was made good by a later one is dropped; one that another try would meet again ends the repeats of its scenario.
//
// What a host says only once it runs that it can't be asked is among those that are not applicable.
func (s Series) Play(ctx context.Context, play Player) ([]gate.Attempt, []gate.NotApplicable, error) {
	var cells []Cell
	for _, scenario := range s.Scenarios {
		for repeat := 1; repeat <= max(1, s.Repeat); repeat++ {
			cells = append(cells, Cell{Scenario: scenario, Host: s.Host, Seed: s.Seed, Repeat: repeat})
		}
	}
	broken := map[*scenarios.Scenario]bool{}
	pool := Pool{
		Play: func(ctx context.Context, c Cell) (*verdict.Judged, error) {
			if broken[c.Scenario] {
				return nil, nil
			}
			j, err := play(ctx, c)
			broken[c.Scenario] = err != nil && !errors.Is(err, runner.ErrHost)
			return j, err
		},
		Again: func(r Result) bool { return r.Try <= s.Retries && undecided(r) },
	}
	results, cut := pool.Run(ctx, cells)
	var all []gate.Attempt
	var failed error
	var nots []gate.NotApplicable
	for i, r := range results {
		if not := (*fit.NotApplicable)(nil); errors.As(r.Err, &not) {
			nots = append(nots, gate.NotApplicable{Scenario: r.Scenario.Name, Host: r.Host.Name, Why: not.Why})
			continue
		}
		if r.Judged != nil {
			all = append(all, gate.Attempt{Judged: *r.Judged, Repeat: r.Repeat, Try: r.Try})
		}
		if last := i+1 == len(results) || results[i+1].Index != r.Index; last {
			failed = errors.Join(failed, r.Err)
		}
	}
	if failed == nil {
		failed = cut
	}
	return all, nots, failed
}

// undecided says that another try may come to a verdict: the host did not come up, or the run was inconclusive.
func undecided(r Result) bool {
	if r.Err != nil {
		return errors.Is(r.Err, runner.ErrHost)
	}
	return r.Judged != nil && r.Judged.Verdict.Outcome == verdict.Inconclusive
}
