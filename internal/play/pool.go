package play

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/judge/verdict"
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

// Run returns the results in the order of the cells, all tries of a cell beside
// each other. The error says that it was cut short.
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

// play fills in what is still to come of a result, and says whether the cell is
// to be played once more.
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
