// Package shrink makes a scenario smaller for as long as it still shows something. It tries the large cuts first, always in the same
// order, and knows nothing of how a scenario is played.
package shrink

import (
	"context"
	"fmt"

	"github.com/leakbench/leakbench/scenarios"
)

// Params say how a scenario is made smaller.
type Params struct {
	// Shows says which of some scenarios still show what is looked for.
	Shows func(ctx context.Context, all []*scenarios.Scenario) ([]bool, error)
	Side  int // how many are tried side by side; 0 is one
	Most  int // how many are tried at most
}

// Smallest is the smallest scenario that was found, and how many were tried. An error of Shows ends the search; what was found so far is
// returned with it.
func Smallest(ctx context.Context, s *scenarios.Scenario, p Params) (smallest *scenarios.Scenario, tried int, err error) {
	side := max(1, p.Side)
	seen := map[string]bool{s.Text(): true}
	for smaller := true; smaller; {
		smaller = false
		var batch []*scenarios.Scenario
		next := func() error {
			shown, err := p.Shows(ctx, batch)
			if err != nil {
				return err
			}
			tried += len(batch)
			for i := range batch {
				if shown[i] {
					s, smaller = batch[i], true
					break
				}
			}
			batch = nil
			return nil
		}
		for _, c := range candidates(s) {
			if tried+len(batch) >= p.Most || smaller {
				break
			}
			if seen[c.Text()] {
				continue
			}
			seen[c.Text()] = true
			if batch = append(batch, c); len(batch) == side {
				if err := next(); err != nil {
					return s, tried, err
				}
			}
		}
		if len(batch) > 0 && !smaller {
			if err := next(); err != nil {
				return s, tried, err
			}
		}
	}
	return s, tried, nil
}

// candidates are the scenarios that are one cut smaller, those of the large cuts first.
func candidates(s *scenarios.Scenario) (all []*scenarios.Scenario) {
	var c cutter
	c.count(s)
	for n := range c.cuts {
		smaller := copyOf(s)
		(&cutter{take: n + 1}).count(smaller)
		dropUnused(smaller)
		text := smaller.Text()
		if again, err := scenarios.Parse(s.File, []byte(text)); err == nil {
			all = append(all, again)
		}
	}
	return all
}

// copyOf is the scenario as it would be read again.
func copyOf(s *scenarios.Scenario) *scenarios.Scenario {
	again, err := scenarios.Parse(s.File, []byte(s.Text()))
	if err != nil {
		panic(fmt.Errorf("a scenario that was read before can't be read again: %w", err)) // a bug: a test reads all back
	}
	return again
}
