package model

import (
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// Repeats are the runs of one scenario on one host, in their order.
type Repeats struct {
	Scenario, Host string
	Runs           []*verdict.Judged
}

// ByPlay groups runs by scenario and host, in the order of their first ones.
func ByPlay(runs []verdict.Judged) []*Repeats {
	type key struct{ scenario, host string }
	index := map[key]*Repeats{}
	var out []*Repeats
	for i := range runs {
		k := key{}
		k.scenario, k.host = PlayOf(&runs[i])
		g := index[k]
		if g == nil {
			g = &Repeats{Scenario: k.scenario, Host: k.host}
			index[k] = g
			out = append(out, g)
		}
		g.Runs = append(g.Runs, &runs[i])
	}
	return out
}

// PlayOf is what a run has played.
func PlayOf(j *verdict.Judged) (scenario, host string) {
	if j.Run == nil {
		return "", ""
	}
	return j.Run.Header.Scenario.Name, j.Run.Header.Host.Name
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
