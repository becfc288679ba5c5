package gate

import (
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// Attempt is a run with its place: the how-many-th repeat of its play, and the
// how-many-th try of that.
type Attempt struct {
	verdict.Judged
	Repeat int `json:"repeat"` // from 1
	Try    int `json:"try"`    // from 1
}

// repeat is one repeat of a play.
type repeat struct {
	compare.Play
	n int
}

func repeatOf(a Attempt) repeat { return repeat{compare.PlayOf(&a.Judged), a.Repeat} }

// Final are the attempts that count: the last try of each repeat.
func Final(all []Attempt) (out []verdict.Judged) {
	last := map[repeat]int{}
	for i, a := range all {
		if at, ok := last[repeatOf(a)]; !ok || a.Try >= all[at].Try {
			last[repeatOf(a)] = i
		}
	}
	for i, a := range all {
		if last[repeatOf(a)] == i {
			out = append(out, a.Judged)
		}
	}
	return out
}

// Fresh numbers runs that were not made by a gate: each is a repeat of its own.
func Fresh(runs []verdict.Judged) []Attempt {
	seen := map[compare.Play]int{}
	out := make([]Attempt, 0, len(runs))
	for i := range runs {
		p := compare.PlayOf(&runs[i])
		seen[p]++
		out = append(out, Attempt{Judged: runs[i], Repeat: seen[p], Try: 1})
	}
	return out
}
