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
	queue := make([]turn, len(cells))
	for i, c := range cells {
		queue[i] = turn{Cell: c, index: i, try: 1}
	}
	if p.Slots > 1 {
		queue = s.sideBySide(ctx, queue)
	}
	for len(queue) > 0 && ctx.Err() == nil {
		t := queue[0]
		t.Alone = true
		if !s.play(ctx, t) {
			queue = queue[1:]
			continue
		}
		queue[0].try++
	}
	slices.SortFunc(s.results, func(a, b Result) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Try, b.Try)) })
	if ctx.Err() != nil {
		return s.results, context.Cause(ctx)
	}
	return s.results, nil
}

// turn is a play that is still to come.
type turn struct {
	Cell
	index, try int
}

// shift is a pool at work.
type shift struct {
	Pool

	mu      sync.Mutex
	left    int
	results []Result
}

// sideBySide plays what need not be alone, and returns what has to be.
func (s *shift) sideBySide(ctx context.Context, queue []turn) (alone []turn) {
	var wg sync.WaitGroup
	var again []turn
	slots := make(chan struct{}, s.Slots)
	for _, t := range queue {
		if t.Alone {
			alone = append(alone, t)
			continue
		}
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if s.play(ctx, t) {
				t.try++
				s.mu.Lock()
				defer s.mu.Unlock()
				again = append(again, t)
			}
		})
	}
	wg.Wait()
	return append(alone, again...)
}

// play takes a turn, and says whether the cell is to be played once more.
func (s *shift) play(ctx context.Context, t turn) (again bool) {
	begun := time.Now()
	j, err := s.Play(ctx, t.Cell)
	r := Result{Cell: t.Cell, Index: t.index, Try: t.try, Judged: j, Err: err, Took: time.Since(begun)}
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
