package model

import (
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// Repeats are the runs of one scenario on one host, in their order.
type Repeats struct {
	compare.Play
	Runs []*verdict.Judged
}

// ByPlay groups runs by scenario and host, in the order of their first ones.
func ByPlay(runs []verdict.Judged) []*Repeats {
	index := map[compare.Play]*Repeats{}
	var out []*Repeats
	for i := range runs {
		play := compare.PlayOf(&runs[i])
		g := index[play]
		if g == nil {
			g = &Repeats{Play: play}
			index[play] = g
			out = append(out, g)
		}
		g.Runs = append(g.Runs, &runs[i])
	}
	return out
}

// FirstDoubt is the reason to name where there is room for one.
func FirstDoubt(j *verdict.Judged) string {
	if len(j.Verdict.Doubts) == 0 {
		return "no reason is known"
	}
	return j.Verdict.Doubts[0].Text
}

// Lasted is the time of the last event of a run, in nanoseconds.
func Lasted(j *verdict.Judged) (ns int64) {
	if j.Run == nil {
		return 0
	}
	for i := range j.Run.Events {
		ns = max(ns, j.Run.Events[i].T)
	}
	return ns
}
