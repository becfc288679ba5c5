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

// Final are the attempts that count: the last try of each repeat.
func Final(all []Attempt) []verdict.Judged {
	type key struct {
		compare.Play
		repeat int
	}
	last := map[key]int{}
	for i := range all {
		k := key{compare.PlayOf(&all[i].Judged), all[i].Repeat}
		if at, ok := last[k]; !ok || all[i].Try >= all[at].Try {
			last[k] = i
		}
	}
	var out []verdict.Judged
	for i := range all {
		if last[key{compare.PlayOf(&all[i].Judged), all[i].Repeat}] == i {
			out = append(out, all[i].Judged)
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
