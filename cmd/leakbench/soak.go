package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/stage/proc"
	"github.com/leakbench/leakbench/internal/stage/runner"
)

// soakable says why a stage can't be soaked for a time, and else makes it a soak.
func soakable(s *stage, d time.Duration) error {
	switch {
	case len(s.series.Scenarios) != 1 || s.series.Repeat > 1:
		return usage(errors.New("--for plays one scenario, once"), "for example: leakbench run storm --for 8h")
	case s.series.Scenarios[0].Soakable() != "":
		return usage(fmt.Errorf("%s can't be played again and again with one host: %s", s.series.Scenarios[0].Name, s.series.Scenarios[0].Soakable()), "for example: leakbench run storm --for 8h")
	}
	s.bench.Soak = &runner.Soak{For: d}
	return nil
}

// soaking is a context for a soak. The first signal ends it after the repetition under way, and its verdict is what counts. A second
// one cuts the run short, and a third one ends the bench on the spot.
func (a *app) soaking(ctx context.Context, s *stage) (context.Context, func()) {
	_ = proc.Adopt() // as for any run
	ctx, cancel := context.WithCancelCause(ctx)
	enough, signals := make(chan struct{}), make(chan os.Signal, 3)
	s.bench.Soak.Stop = enough
	signal.Notify(signals, stops...)
	go func() {
		for n := 1; ; n++ {
			sig, ok := <-signals
			if !ok {
				return
			}
			number, _ := sig.(syscall.Signal)
			switch n {
			case 1:
				a.note("%s: the soak ends after this repetition; again: it is cut short\n", proc.SignalName(number))
				close(enough)
			case 2:
				cancel(runner.Interrupted{Signal: proc.SignalName(number)})
			default:
				os.Exit(exitSignal + int(number))
			}
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel(nil) }
}
