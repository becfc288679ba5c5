package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/words"
)

// Worst is the outcome of all runs together. No run at all is no proof.
func Worst(runs []verdict.Judged) verdict.Outcome {
	all := verdict.Clean
	if len(runs) == 0 {
		return verdict.Inconclusive
	}
	for i := range runs {
		switch runs[i].Verdict.Outcome {
		case verdict.Leak:
			return verdict.Leak
		case verdict.Clean:
		default:
			all = verdict.Inconclusive
		}
	}
	return all
}

// Headline says in a line what several runs came to; a single run has a title only.
func Headline(runs []verdict.Judged) (headline, title string) {
	if len(runs) == 1 && runs[0].Run != nil {
		h := &runs[0].Run.Header
		return "", fmt.Sprintf("%s: %s on %s", runs[0].Verdict.Outcome, h.Scenario.Name, h.Host.Name)
	}
	count := map[verdict.Outcome]int{}
	for i := range runs {
		count[runs[i].Verdict.Outcome]++
	}
	var parts []string
	for _, o := range []verdict.Outcome{verdict.Leak, verdict.Inconclusive, verdict.Clean} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "nothing to judge")
	}
	headline = words.Plural(len(runs), "run") + ": " + strings.Join(parts, ", ")
	return headline, headline
}

// Gravest is the finding that the most processes show, of those that weigh as
// much as the first.
func Gravest(findings []verdict.Finding) *verdict.Finding {
	first := &findings[0]
	for i := range findings {
		if f := &findings[i]; f.Severity == findings[0].Severity && f.Count > first.Count {
			first = f
		}
	}
	return first
}

// GravestFirst are the findings in the order in which people read them: what the
// headline says comes first.
func GravestFirst(findings []verdict.Finding) []verdict.Finding {
	if len(findings) == 0 {
		return nil
	}
	first := Gravest(findings)
	out := []verdict.Finding{*first}
	for i := range findings {
		if &findings[i] != first {
			out = append(out, findings[i])
		}
	}
	return out
}

// Gravity orders outcomes: the higher, the worse.
func Gravity(outcome string) int {
	return slices.Index([]string{string(verdict.Clean), string(verdict.Inconclusive), string(verdict.Leak)}, outcome)
}

// OutcomeGlyph stands for an outcome.
var OutcomeGlyph = map[verdict.Outcome]string{verdict.Clean: "✓", verdict.Leak: "✗", verdict.Inconclusive: "?"}

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

// What a report shows of a run at most, in any format.
const (
	FindingsOf  = 100
	DoubtsOf    = 60
	ValuesShown = 6 // of a finding
	HoldsOf     = 8 // likewise
)
