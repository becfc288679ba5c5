package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// Soak has a scenario played again and again with one host.
type Soak struct {
	For  time.Duration
	Stop <-chan struct{} // ends it after the repetition under way
}

// mostCycles bounds the file of a soak: there are so many repetitions, evenly over its time.
const mostCycles = 400

// sampleOf is how often a census is taken for the curves: of a soak at most 2000 times.
func (s *Soak) sampleOf() time.Duration {
	return max(250*time.Millisecond, s.recorded().D()/2000)
}

// playSteps plays the scenario: once, or until the time of a soak is over.
func (r *run) playSteps(ctx context.Context) error {
	if r.Soak == nil {
		return r.perform(ctx, r.Scenario.Expand())
	}
	for begun, n := time.Now(), 1; ; n++ {
		if err := r.prepareAgain(n); err != nil {
			return err
		}
		if err := r.perform(ctx, r.Scenario.Again(n)); err != nil {
			return err
		}
		if err := r.closeAll(ctx, fmt.Sprintf("repetition %d", n)); err != nil {
			return err
		}
		if err := r.cycle(ctx, record.Cycle{Series: 1, N: n}); err != nil {
			return err
		}
		if next := r.Soak.For * time.Duration(n) / mostCycles; n == mostCycles || time.Since(begun) >= r.Soak.For {
			return nil
		} else if err := patience.UntilChange(ctx, r.Soak.Stop, next-time.Since(begun)); err != nil {
			return err
		}
		if r.Soak.stopped() {
			return nil
		}
	}
}

// prepareAgain has the sessions of a repetition known by its names, and the faults of certain launches meet those of the repetition.
func (r *run) prepareAgain(n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, label := range r.Scenario.Sessions() {
		r.planned[scenarios.AgainName(name, n)] = label
	}
	launched := map[string]int{}
	for _, s := range r.lives.Servers() {
		launched[s.Label] = max(launched[s.Label], s.Launch)
	}
	for _, server := range r.Scenario.Servers {
		script := server.Script
		script.Faults = slices.Clone(script.Faults)
		for i := range script.Faults {
			if f := &script.Faults[i]; f.Launch > 0 {
				f.Launch += launched[server.Label]
			}
		}
		text, err := json.Marshal(script)
		if err != nil {
			return err
		}
		r.ledger.Add(server.Label, text)
	}
	return nil
}

func (s *Soak) stopped() bool {
	select {
	case <-s.Stop:
		return true
	default:
		return false
	}
}

// most is how many repetitions there are at the most.
func (s *Soak) most() int {
	if s == nil {
		return 0
	}
	return mostCycles
}

func (s *Soak) recorded() record.Duration {
	if s == nil {
		return 0
	}
	return record.Duration(s.For)
}
