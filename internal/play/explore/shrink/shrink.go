// Package shrink makes a scenario smaller for as long as it still shows something. It tries the large cuts first, always in the same
// order, and knows nothing of how a scenario is played.
package shrink

import (
	"context"
	"fmt"
	"slices"

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
	h := hunt{Params: p, seen: map[string]bool{s.Text(): true}}
	for s != nil && err == nil {
		smallest = s
		s, err = h.smaller(ctx, s)
	}
	return smallest, h.tried, err
}

// hunt is a search under way.
type hunt struct {
	Params
	seen  map[string]bool
	tried int
}

// smaller is the first scenario that is one cut smaller and shows it, or nil.
func (h *hunt) smaller(ctx context.Context, s *scenarios.Scenario) (*scenarios.Scenario, error) {
	var batch []*scenarios.Scenario
	for _, c := range candidates(s) {
		if h.tried+len(batch) >= h.Most {
			break
		}
		if h.seen[c.Text()] {
			continue
		}
		h.seen[c.Text()] = true
		if batch = append(batch, c); len(batch) < h.Side {
			continue
		}
		if shown, err := h.try(ctx, batch); shown != nil || err != nil {
			return shown, err
		}
		batch = nil
	}
	if len(batch) == 0 {
		return nil, nil
	}
	return h.try(ctx, batch)
}

// try is the first scenario of a batch that shows it, or nil.
func (h *hunt) try(ctx context.Context, batch []*scenarios.Scenario) (*scenarios.Scenario, error) {
	shown, err := h.Shows(ctx, batch)
	if err != nil {
		return nil, err
	}
	h.tried += len(batch)
	if i := slices.Index(shown, true); i >= 0 {
		return batch[i], nil
	}
	return nil, nil
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
