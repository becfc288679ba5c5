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
	// Smaller is told of each smaller scenario that was found. It may be nil.
	Smaller func(*scenarios.Scenario)
}

// Smallest is the smallest scenario that was found, and how many were tried. An error of Shows ends the search; what was found so far is
// returned with it. In the end each step, fault and server of the smallest one is taken out once more: a run may have hidden what is looked
// for.
func Smallest(ctx context.Context, s *scenarios.Scenario, p Params) (smallest *scenarios.Scenario, tried int, err error) {
	h := hunt{Params: p, smallest: s}
	for found := true; found && err == nil; {
		h.seen, h.parts = map[string]bool{}, false
		for less := true; less && err == nil; {
			before := h.smallest.Size()
			_, err = h.pass(ctx)
			less = h.smallest.Size() != before
		}
		if err == nil {
			h.seen, h.parts = map[string]bool{}, true
			found, err = h.pass(ctx)
		}
	}
	return h.smallest, h.tried, err
}

// hunt is a search under way.
type hunt struct {
	Params
	smallest *scenarios.Scenario
	merged   []*scenarios.Scenario // several cuts at once that were found one by one
	seen     map[string]bool
	parts    bool // whole steps, faults and servers are taken out, and nothing is made plainer
	tried    int
}

// candidate is a smaller scenario. It is the result of one of the cuts that the smallest one allows.
type candidate struct {
	*scenarios.Scenario
	cut int
}

// pass tries each cut once, a batch of them side by side. It goes on behind a cut that is made, and not from the start: those before it
// were in vain a moment ago. Whether they still are, the next pass says.
func (h *hunt) pass(ctx context.Context) (found bool, err error) {
	h.seen[h.smallest.Text()] = true
	for next := 0; ; {
		batch, after := h.batch(next)
		if len(batch) == 0 {
			return found, nil
		}
		hits, err := h.try(ctx, batch)
		if err != nil {
			return found, err
		}
		if next = after; len(hits) == 0 {
			continue
		}
		found, next = true, hits[0].cut
		h.merged = merges(h.smallest, hits)
		h.smallest = hits[0].Scenario
		if h.Smaller != nil {
			h.Smaller(h.smallest)
		}
	}
}

// batch is what is tried next, from a cut on, and the cut after it.
func (h *hunt) batch(next int) (batch []candidate, after int) {
	room := min(max(1, h.Side), h.Most-h.tried)
	add := func(s *scenarios.Scenario, cut int) {
		if len(batch) < room && !h.seen[s.Text()] && (!h.parts || s.Size() != h.smallest.Size()) {
			h.seen[s.Text()] = true
			batch = append(batch, candidate{s, cut})
		}
	}
	for _, s := range h.merged {
		add(s, next)
	}
	h.merged = nil
	cuts := cutsOf(h.smallest)
	for after = next; after < cuts && len(batch) < room; after++ {
		if s := cutOne(h.smallest, after); s != nil {
			add(s, after)
		}
	}
	return batch, after
}

// try returns those of a batch that show it.
func (h *hunt) try(ctx context.Context, batch []candidate) (hits []candidate, err error) {
	var all []*scenarios.Scenario
	for _, c := range batch {
		all = append(all, c.Scenario)
	}
	shown, err := h.Shows(ctx, all)
	if err != nil {
		return nil, err
	}
	h.tried += len(batch)
	for i, c := range batch {
		if shown[i] {
			hits = append(hits, c)
		}
	}
	return hits, nil
}

// cutsOf is how many cuts a scenario allows.
func cutsOf(s *scenarios.Scenario) int {
	var c cutter
	c.count(copyOf(s))
	return c.cuts
}

// cutOne is the scenario after one of its cuts, from 0, the large ones first. nil: it is none any more.
func cutOne(s *scenarios.Scenario, cut int) *scenarios.Scenario {
	smaller := copyOf(s)
	(&cutter{take: cut + 1}).count(smaller)
	return tidy(smaller)
}

// tidy is a scenario without what it has no more use for, or nil.
func tidy(s *scenarios.Scenario) *scenarios.Scenario {
	dropUnused(s)
	again, err := scenarios.Parse(s.File, []byte(s.Text()))
	if err != nil {
		return nil
	}
	return again
}

// copyOf is the scenario as it would be read again.
func copyOf(s *scenarios.Scenario) *scenarios.Scenario {
	again, err := scenarios.Parse(s.File, []byte(s.Text()))
	if err != nil {
		panic(fmt.Errorf("a scenario that was read before can't be read again: %w", err)) // a bug: a test reads all back
	}
	return again
}
