package gate

import (
	"errors"

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

// Tries are how a play is played.
type Tries struct {
	Repeat  int // 0 is 1
	Retries int // how often an inconclusive run is tried again
	// Again says that an error is one that another try may not meet: the host
	// did not come up. nil: none is.
	Again func(error) bool
}

// Play plays as often as asked for. A leak is a fact, so only a run without a
// verdict is tried again. The error of a try that was made good by a later one
// is dropped; any other ends it all.
func (t Tries) Play(play func(repeat, try int) (*verdict.Judged, error)) ([]Attempt, error) {
	var all []Attempt
	var failed error
	for repeat := 1; repeat <= max(1, t.Repeat); repeat++ {
		for try := 1; ; try++ {
			j, err := play(repeat, try)
			if j != nil {
				all = append(all, Attempt{Judged: *j, Repeat: repeat, Try: try})
			}
			another := err != nil && t.Again != nil && t.Again(err)
			if err != nil && !another {
				return all, errors.Join(failed, err)
			}
			unsure := another || j != nil && j.Verdict.Outcome == verdict.Inconclusive
			if unsure && try <= t.Retries {
				continue
			}
			failed = errors.Join(failed, err)
			break
		}
	}
	return all, failed
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
