package main

import (
	"context"
	"errors"
	"io"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/scenarios"
)

// playEach plays one scenario after the other and hands on the tries of each.
// An interrupt ends it.
func (a *app) playEach(ctx context.Context, s stage, plays []*scenarios.Scenario, f runFlags, retries int, take func([]gate.Attempt)) error {
	var failed error
	for _, play := range plays {
		tries, err := a.playRepeats(ctx, s, play, f, retries)
		take(tries)
		failed = errors.Join(failed, err)
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// playRepeats plays as often as asked for, and a run without a verdict again,
// up to so many times. Each draws its own seed unless there is one for all.
func (a *app) playRepeats(ctx context.Context, s stage, play *scenarios.Scenario, f runFlags, retries int) ([]gate.Attempt, error) {
	tries := gate.Tries{
		Repeat: f.repeat, Retries: retries,
		Again: func(err error) bool { return errors.Is(err, runner.ErrHost) && ctx.Err() == nil },
	}
	return tries.Play(func(int, int) (*verdict.Judged, error) { return a.playOne(ctx, s.self, play, s.spec, f) })
}

// concludeRepeats is conclude, with how often each play leaked.
func (a *app) concludeRepeats(judged []verdict.Judged, failed error, outlets []outlet) error {
	rates := compare.Repeats(judged)
	return a.concludeWith(judged, failed, outlets, addition{
		more: formats.More{Repeats: rates},
		text: func(w io.Writer) error { return baseline.Repeats(w, rates, a.textOptions()) },
	})
}
