package model

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// SoakLines say what a soak shows, the first of them how often the scenario was played. They are none for any other run.
func SoakLines(s *verdict.Soak) (lines []string) {
	if s == nil {
		return nil
	}
	head := text.Count(s.Repetitions, "repetition") + " with one host; growth an hour, with its 95% interval:"
	if len(s.Trends) == 0 {
		head = text.Count(s.Repetitions, "repetition") + " with one host: too few to tell growth an hour"
	}
	lines = append(lines, head)
	for i := range s.Trends {
		t := &s.Trends[i]
		say := func(v float64) string { return fmt.Sprintf("%+.1f", v) }
		count := func(n int64) string { return fmt.Sprint(n) }
		if t.Of == verdict.OfMemory {
			say = func(v float64) string { return fmt.Sprintf("%+.1f MiB", v/(1<<20)) }
			count = words.Size
		}
		grows := "no growth shown"
		if t.Grows() {
			grows = "grows"
		}
		lines = append(lines, fmt.Sprintf("%s %s (%s to %s), from %s to %s: %s", t.Of, say(t.Slope), say(t.Low), say(t.High), count(t.First), count(t.Last), grows))
	}
	return lines
}
