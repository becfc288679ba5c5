package play

import (
	"context"
	"errors"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/scenarios"
)

// Series is each of some scenarios on one host, so many times, one after the other.
type Series struct {
	Scenarios []*scenarios.Scenario
	Host      Host
	Seed      uint64 // 0: each play draws its own
	Repeat    int    // 0 is 1
	Retries   int    // how often a play without a verdict is tried again
}

// Play plays the series. A leak is a fact, so only a run without a verdict is
// tried again. The error of a try that was made good by a later one is dropped;
// one that another try would meet again ends the repeats of its scenario.
func (s Series) Play(ctx context.Context, play Player) ([]gate.Attempt, error) {
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
	for i, r := range results {
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
	return all, failed
}

// undecided says that another try may come to a verdict: the host did not come
// up, or the run was inconclusive.
func undecided(r Result) bool {
	if r.Err != nil {
		return errors.Is(r.Err, runner.ErrHost)
	}
	return r.Judged != nil && r.Judged.Verdict.Outcome == verdict.Inconclusive
}
