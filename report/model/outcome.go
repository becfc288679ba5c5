package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// Worst is the outcome of all runs together. No run at all is no proof.
func Worst(runs []verdict.Judged) verdict.Outcome {
	all := verdict.Clean
	for i := range runs {
		if o := runs[i].Verdict.Outcome; Gravity(o) > Gravity(all) {
			all = o
		}
	}
	if len(runs) == 0 || Gravity(all) == 1 {
		return verdict.Inconclusive
	}
	return all
}

// Headline says in a line what several runs came to; a single run has a title only. not is how many scenarios were
// asked for and are not applicable to the host.
func Headline(runs []verdict.Judged, not int) (headline, title string) {
	if len(runs) == 1 && runs[0].Run != nil && not == 0 {
		h := &runs[0].Run.Header
		return "", fmt.Sprintf("%s: %s on %s", runs[0].Verdict.Outcome, h.Scenario, h.Host.Name)
	}
	tally := Tally(runs, verdict.Leak, verdict.Inconclusive, verdict.Clean)
	headline = text.Count(len(runs), "run") + ": " + cmp.Or(tally, "nothing to judge") + Played(runs, not)
	return headline, headline
}

// Launched says how many servers a run has seen, or how many processes of the server under test.
func Launched(j *verdict.Judged) string {
	if j.Run != nil && j.Run.Header.Host.Kind == record.KindServer {
		return text.Count(j.Verdict.Spawned, "process") + " of the server"
	}
	return text.Count(j.Verdict.Spawned, "server") + " launched"
}

// Played says how many of the scenarios were played, where not of them are not applicable; "" where all are.
func Played(runs []verdict.Judged, not int) string {
	if not == 0 {
		return ""
	}
	names, _ := lists.GroupBy(runs, func(j verdict.Judged) string { return compare.PlayOf(&j).Scenario })
	return fmt.Sprintf("; %d of %d scenarios run, %d not applicable", len(names), len(names)+not, not)
}

// OutcomeWord is what a run came to, in the words of a terminal: a server that does not answer has leaked nothing.
func OutcomeWord(v *verdict.Verdict) string {
	if word := ImpactOf(v).Word(v.Outcome); word == fault || word == givenUp {
		return word
	}
	return string(v.Outcome)
}

// Tally is how many runs came to each outcome, those in the order of outcomes.
func Tally(runs []verdict.Judged, outcomes ...verdict.Outcome) string {
	_, groups := lists.GroupBy(runs, func(j verdict.Judged) verdict.Outcome { return j.Verdict.Outcome })
	var parts []string
	for _, o := range outcomes {
		words, of := lists.GroupBy(groups[o], func(j verdict.Judged) string { return OutcomeWord(&j.Verdict) })
		for _, word := range words {
			parts = append(parts, fmt.Sprintf("%d %s", len(of[word]), word))
		}
	}
	return strings.Join(parts, ", ")
}

// Gravest is the finding that the most processes show, of those that weigh as much as the first.
func Gravest(findings []verdict.Finding) *verdict.Finding {
	first := &findings[0]
	for i := range findings {
		if f := &findings[i]; f.Severity == findings[0].Severity && f.Count > first.Count {
			first = f
		}
	}
	return first
}

// GravestFirst are the findings in the order in which people read them: what the headline says comes first.
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

// Gravity orders outcomes: the higher, the worse. What is none is not decided.
func Gravity(o verdict.Outcome) int {
	switch o {
	case verdict.Clean:
		return 0
	case verdict.Leak:
		return 2
	}
	return 1
}

// OutcomeGlyph stands for an outcome.
var OutcomeGlyph = map[verdict.Outcome]string{verdict.Clean: "✓", verdict.Leak: "✗", verdict.Inconclusive: "?"}

// Repeats are the runs of one scenario on one host, in their order.
type Repeats struct {
	compare.Play
	Runs []verdict.Judged
}

// ByPlay groups runs by scenario and host, in the order of their first ones.
func ByPlay(runs []verdict.Judged) []*Repeats {
	plays, groups := lists.GroupBy(runs, func(j verdict.Judged) compare.Play { return compare.PlayOf(&j) })
	var out []*Repeats
	for _, play := range plays {
		out = append(out, &Repeats{play, groups[play]})
	}
	return out
}

// Again is the command that plays a run again, "" where none is known.
func Again(j *verdict.Judged) string {
	if j == nil || j.Run == nil {
		return ""
	}
	return words.Shell(j.Run.Header.Command)
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

// Reached is how far a host gets in some runs; "" is all hosts together. A scenario is clean where each run of it is.
func Reached(runs []verdict.Judged, host string) words.Reach {
	type play struct{ scenario, host string }
	plays, groups := lists.GroupBy(runs, func(j verdict.Judged) play {
		p := compare.PlayOf(&j)
		return play{p.Scenario, p.Host}
	})
	reach := words.Reach{}
	for _, p := range plays {
		group := groups[p]
		if group[0].Run == nil || host != "" && p.host != host {
			continue
		}
		dirty := slices.ContainsFunc(group, func(j verdict.Judged) bool { return j.Verdict.Outcome != verdict.Clean })
		reach.Add(group[0].Run.Header.Scenario.Level, !dirty)
	}
	return reach
}

// AboutKind is the address where a kind is explained.
func AboutKind(kind string) string {
	if law.KindOf(kind).Law == "" {
		kind = "" // of a later version
	}
	return "https://github.com/leakbench/leakbench/blob/main/docs/understand/laws.md#" + kind
}
