package gate

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/group"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// flakes are the plays whose runs do not agree: retries that were needed, and
// repeats of which only some show a finding.
func flakes(all []Attempt, final []verdict.Judged) []Flake {
	var out []Flake
	keys, tries := group.By(all, repeatOf)
	for _, key := range keys {
		if n := len(tries[key]); n > 1 {
			var outcomes []string
			for i := range n {
				outcomes = append(outcomes, string(tries[key][i].Verdict.Outcome))
			}
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
