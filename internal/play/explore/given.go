package explore

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// ErrNotAgain says that a scenario did not show what is to become small.
var ErrNotAgain = errors.New("no finding came")

// Shrink makes a scenario small that shows findings: one of each law and kind. Where some are given, these alone are looked for.
func Shrink(ctx context.Context, p Params, s *scenarios.Scenario, given []verdict.Finding) (*Result, error) {
	p.Shrink = 1
	e, err := newExplorer(p)
	if err != nil {
		return nil, err
	}
	e.given = true
	ctx, stop := e.bounded(ctx)
	defer stop()
	if s, err = e.plain(s); err != nil {
		return nil, err
	}
	runs, err := e.playAll(ctx, slices.Repeat([]*scenarios.Scenario{s}, times), func(int) uint64 { return e.Seed })
	e.result.Runs = len(runs)
	for _, j := range runs {
		if j == nil {
			e.result.Unplayed++
		} else if _, news := e.note(-1, s, j); !news {
			e.discard(j)
		}
	}
	e.result.Findings = slices.DeleteFunc(e.result.Findings, func(f *Found) bool {
		return len(given) > 0 && !slices.ContainsFunc(given, f.alike)
	})
	if len(e.result.Findings) == 0 && errors.Is(err, play.ErrEnough) {
		return nil, e.tooShort()
	}
	if err == nil && len(e.result.Findings) == 0 {
		err = fmt.Errorf("%w in %s of %s", ErrNotAgain, text.Count(len(runs), "run"), s.Name)
	}
	if err == nil || ctx.Err() != nil {
		err = errors.Join(err, e.examine(ctx))
	}
	e.sumUp()
	return &e.result, inTime(err)
}

// plain is a scenario as it is written when it is made small: without its texts, and without what a generated one never has.
func (e *explorer) plain(s *scenarios.Scenario) (*scenarios.Scenario, error) {
	again, err := scenarios.Parse(s.File, []byte(s.Text()))
	if err != nil {
		err = fmt.Errorf("%s can't be made small: %w", s.Name, err)
		return nil, &play.Misuse{Err: err, Hint: "take out what generated scenarios do not have"}
	}
	if _, not := play.Fit(e.Host, []*scenarios.Scenario{again}); len(not) > 0 {
		err = fmt.Errorf("%s can't be run on %s: %s", s.Name, e.Host.Name, not[0].Why)
		return nil, &play.Misuse{Err: err, Hint: "leakbench list hosts shows others"}
	}
	again.File = filepath.Join(e.folder, again.Name+".yaml")
	return again, files.Own(again.File, 0o600, files.Text([]byte(again.Source)))
}
