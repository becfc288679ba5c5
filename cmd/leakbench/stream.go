package main

import (
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/progress"
)

// stream shows the runs of a series as they end, a line for each. A single run shows its steps instead.
func (a *app) stream(s *stage) (stop func()) {
	plays := len(s.series.Scenarios)*max(1, s.series.Repeat) + len(s.series.Cells)
	if plays < 2 || s.bench.Live.Mode == progress.None {
		return func() {}
	}
	live := progress.Count(a.err, s.bench.Live.Mode, plays)
	s.bench.Live.Mode = progress.None
	s.series.OnRun = func(r play.Result, left int) {
		if s.series.Cells != nil {
			r.Repeat = 0 // of plays that are no repeats of each other
		}
		live.Ended(r.Line(), r.Failed(), left)
	}
	return live.Stop
}
