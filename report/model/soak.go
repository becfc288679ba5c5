package model

import (
	"fmt"
	"math"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// Soak is what a soak shows, in words.
type Soak struct {
	Head   string
	Trends []SoakTrend
}

// SoakTrend is how something has grown.
type SoakTrend struct {
	Of, Slope, Low, High, First, Last string
	Grows                             bool
}

// Verdict is what follows from it.
func (t SoakTrend) Verdict() string {
	if t.Grows {
		return "grows"
	}
	return "no growth shown"
}

// NewSoak is nil for any other run.
func NewSoak(s *verdict.Soak) *Soak {
	if s == nil {
		return nil
	}
	v := &Soak{Head: text.Count(s.Repetitions, "repetition") + " with one host; growth an hour, with its 95% interval:"}
	if len(s.Trends) == 0 {
		v.Head = text.Count(s.Repetitions, "repetition") + " with one host: too few to tell growth an hour"
	}
	for i := range s.Trends {
		t := &s.Trends[i]
		say, count := rate, func(n int64) string { return fmt.Sprint(n) }
		if t.Of == verdict.OfMemory {
			say, count = func(v float64) string { return rate(v/(1<<20)) + " MiB" }, words.Size
		}
		v.Trends = append(v.Trends, SoakTrend{t.Of, say(t.Slope), say(t.Low), say(t.High), count(t.First), count(t.Last), t.Grows()})
	}
	return v
}

// rate has a decimal where it is small.
func rate(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%+.0f", v)
	}
	return fmt.Sprintf("%+.1f", v)
}

// Lines are it as text.
func (s *Soak) Lines() (lines []string) {
	if s == nil {
		return nil
	}
	lines = append(lines, s.Head)
	for _, t := range s.Trends {
		lines = append(lines, fmt.Sprintf("%s %s (%s to %s), from %s to %s: %s", t.Of, t.Slope, t.Low, t.High, t.First, t.Last, t.Verdict()))
	}
	return lines
}
