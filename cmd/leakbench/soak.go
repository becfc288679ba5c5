package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/observe/host"
)

// soakable says why a stage can't be soaked for a time, and else makes it a soak.
func soakable(s *stage, d time.Duration) error {
	const hint = "for example: leakbench run storm --for 8h"
	if len(s.series.Scenarios) != 1 || s.series.Repeat > 1 {
		return usage(errors.New("--for takes one scenario, without --repeat"), hint)
	}
	only := s.series.Scenarios[0]
	if why := only.Soakable(); why != "" {
		return usage(fmt.Errorf("%s cannot be repeated with one host: %s", only.Name, why), hint)
	}
	s.bench.Soak = &host.Soak{For: d}
	return nil
}

// soak returns what the first signal does to a soak: it ends after the repetition under way, and its verdict is what counts.
func (a *app) soak(s *stage) (gently func(signal string)) {
	enough := make(chan struct{})
	s.bench.Soak.Stop = enough
	return func(signal string) {
		a.note("%s: the soak ends after this repetition; again: it is cut short\n", signal)
		close(enough)
	}
}
