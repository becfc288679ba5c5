package gate

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/group"
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

// flakes are the plays whose runs do not agree: retries that were needed, and
// repeats of which only some show a finding.
func flakes(all []Attempt, final []verdict.Judged) []Flake {
	var out []Flake
	keys, tries := group.By(all, repeatOf)
	for _, key := range keys {
		var outcomes []string
		for i := range tries[key] {
			outcomes = append(outcomes, string(tries[key][i].Verdict.Outcome))
		}
		if n := len(outcomes); n > 1 {
			out = append(out, Flake{Play: key.Play, Text: fmt.Sprintf("tried %d times: %s", n, strings.Join(outcomes, ", then "))})
		}
	}
	for _, r := range compare.Repeats(final) {
		if r.Leak.Of+r.Inconclusive < 2 || !r.Flaky() {
			continue
		}
		out = append(out, Flake{Play: r.Play, Text: "the repeats differ: " + Rates(&r)})
	}
	return out
}

// Rates puts what repeated runs show into a line.
func Rates(r *compare.Repeat) string {
	text := fmt.Sprintf("a leak in %s runs (%s)", r.Leak.Seen, Percent(r.Leak))
	if r.Leak.Of == 0 {
		text = "no run could be decided"
	}
	if r.Inconclusive > 0 {
		text += fmt.Sprintf(", %d inconclusive", r.Inconclusive)
	}
	return text
}

// Percent is a rate with its interval: "30%, 95% interval 11% to 60%".
func Percent(r compare.Rate) string {
	if r.Of == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.0f%%, 95%% interval %.0f%% to %.0f%%", 100*float64(r.In)/float64(r.Of), 100*r.Low, 100*r.High)
}
