package play

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Series is each of some scenarios on one host, so many times.
type Series struct {
	Scenarios []*scenarios.Scenario
	Host      Host
	Cells     []Cell // what is played in place of Scenarios: each is a repeat of its own, whatever host it is on
	Seed      uint64 // 0: each play draws its own
	Repeat    int    // 0 is 1
	Retries   int    // how often a play without a verdict is tried again
	Jobs      int    // how many at the same time; 0 is as many as the machine carries
	// Enough says that with this play the answer is known: the rest is not played.
	Enough func(Result) bool
	// OnRun sees each play as it ends, and how many are still to come. Calls do not overlap.
	OnRun func(r Result, left int)
}

// mostFailures is after how many plays in vain a host that has never come up is not tried any more.
const mostFailures = 2

// Play plays the series. A leak is a fact, so only a run without a verdict is tried again. The error of a try that
// was made good by a later one is dropped; one that another try would meet again ends the repeats of its scenario.
// What was unclear, or went by the clock, beside other plays is played once more alone, which is no try of its own.
//
// What a host says only once it runs that it can't be asked is among those that are not applicable.
func (s Series) Play(ctx context.Context, play Player) ([]gate.Attempt, []gate.NotApplicable, error) {
	cells := s.cells()
	t := &turns{Series: s, play: play, broken: map[*scenarios.Scenario]bool{}, beside: map[int]bool{}}
	pool := Pool{Slots: s.Jobs, Play: t.one, Again: t.again, Enough: t.enough, Done: s.OnRun}
	results, cut := pool.Run(ctx, cells)
	all, nots, failed := t.attempts(results)
	if t.down && len(results) < len(cells) {
		failed = fmt.Errorf("%w; %s not tried any more", failed, text.Choose(len(cells)-len(results), "the other run was", "the other runs were"))
	}
	if failed == nil {
		failed = cut
	}
	return all, nots, failed
}

func (s Series) cells() (cells []Cell) {
	for i, c := range s.Cells {
		c.Repeat = i + 1
		cells = append(cells, c)
	}
	for _, scenario := range s.Scenarios {
		for repeat := 1; repeat <= max(1, s.Repeat); repeat++ {
			cells = append(cells, Cell{Scenario: scenario, Host: s.Host, Seed: s.Seed, Repeat: repeat})
		}
	}
	return cells
}

// turns is a series at work.
type turns struct {
	Series
	play Player

	mu     sync.Mutex
	broken map[*scenarios.Scenario]bool

	// What follows is of one goroutine at a time.
	beside map[int]bool // whose first play was made beside others, and is made sure of
	failed int          // plays of a host that has never come up
	up     bool         // it has
	down   bool         // it was given up, or the program has gone
}

func (t *turns) one(ctx context.Context, c Cell) (*verdict.Judged, error) {
	t.mu.Lock()
	broken := t.broken[c.Scenario]
	t.mu.Unlock()
	if broken {
		return nil, nil
	}
	j, err := t.play(ctx, c)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken[c.Scenario] = err != nil && !errors.Is(err, observe.ErrHost)
	return j, err
}

func (t *turns) again(r Result) string {
	if why := r.Crowded(); why != "" {
		if t.hostDown(r) {
			return ""
		}
		t.beside[r.Index] = true
		return why
	}
	tries := r.Try
	if t.beside[r.Index] {
		tries--
	}
	if tries <= t.Retries && undecided(r) {
		return "the run before could not be decided"
	}
	return ""
}

func (t *turns) enough(r Result) bool {
	t.down = t.hostDown(r) || errors.Is(r.Err, observe.ErrProgram)
	return t.down || t.Enough != nil && t.Enough(r)
}

// hostDown says that a host does not come up, wherever it is put.
func (t *turns) hostDown(r Result) bool {
	switch {
	case t.Cells != nil: // the next one may be of another host
		return false
	case !errors.Is(r.Err, observe.ErrHost):
		t.up = t.up || r.Host.Kind != record.KindServer || greeted(r.Judged)
	case r.Scenario.Place == "":
		t.failed++
	}
	return !t.up && t.failed >= mostFailures
}

// greeted says that a server has answered: one that is asked nothing may end as it should, and never come up.
func greeted(j *verdict.Judged) bool {
	return j == nil || j.Run == nil || slices.ContainsFunc(j.Run.Events, func(e record.Event) bool { return e.Kind == record.HostReady })
}

// attempts are the plays that count.
func (t *turns) attempts(results []Result) (all []gate.Attempt, nots []gate.NotApplicable, failed error) {
	indices, tries := lists.GroupBy(results, func(r Result) int { return r.Index })
	for _, index := range indices {
		mine := tries[index]
		last := mine[len(mine)-1]
		if not := (*fit.NotApplicable)(nil); errors.As(last.Err, &not) {
			nots = append(nots, gate.NotApplicable{Scenario: last.Scenario.Name, Host: last.Host.Name, Why: not.Why})
			continue
		}
		if last.Err != nil && (failed == nil || !strings.Contains(failed.Error(), last.Err.Error())) { // each reason once
			failed = errors.Join(failed, last.Err)
		}
		if t.beside[index] && len(mine) > 1 {
			if outweighs(mine[0].Judged, mine[1].Judged) {
				mine[1].Judged = mine[0].Judged
			}
			mine = mine[1:]
		}
		for i, r := range mine {
			if r.Judged != nil {
				all = append(all, gate.Attempt{Judged: *r.Judged, Repeat: r.Repeat, Try: i + 1})
			}
		}
	}
	return all, nots, failed
}
