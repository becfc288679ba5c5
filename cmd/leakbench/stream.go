package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/stage/progress"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
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
		live.Ended(runLine(r), isBad(r), left)
	}
	return live.Stop
}

func isBad(r play.Result) bool {
	return r.Err != nil || r.Judged == nil || r.Judged.Verdict.Outcome != verdict.Clean
}

// runLine is a run on one line: "✗ storm 2.3 s: L1 superseded, L4 zombie".
func runLine(r play.Result) string {
	outcome, what := verdict.Inconclusive, ""
	switch {
	case r.Err != nil:
		what, _, _ = strings.Cut(r.Err.Error(), "\n")
	case r.Judged != nil:
		v := &r.Judged.Verdict
		outcome = v.Outcome
		kinds, _ := lists.GroupBy(v.Findings, func(f verdict.Finding) string { return f.Law + " " + f.Kind })
		what = strings.Join(kinds, ", ")
		if what == "" && len(v.Doubts) > 0 {
			what = v.Doubts[0].Text
		}
	}
	line := fmt.Sprintf("%s %s %s", cmp.Or(model.OutcomeGlyph[outcome], "?"), r.Scenario, seconds(r.Took))
	if r.Repeat > 1 {
		line = fmt.Sprintf("%s (repeat %d)", line, r.Repeat)
	}
	if r.Again != "" {
		line += " (alone: " + r.Again + ")"
	}
	if what != "" {
		line += ": " + what
	}
	return text.Printable(line)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
