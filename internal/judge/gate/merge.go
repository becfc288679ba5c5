package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
)

// Part is what one machine did, and what all of them were to do.
type Part struct {
	Name   string `json:"-"` // where it came from
	Shard  Shard  `json:"shard"`
	Mark   string `json:"mark,omitempty"`   // of Split
	Plan   []Item `json:"plan"`             // of all shards together
	Host   string `json:"host"`             // the name of the host
	Repeat int    `json:"repeat,omitempty"` // how often each was to be played
	// NotApplicable are the scenarios that were asked for, and that the host can't be played.
	NotApplicable []NotApplicable `json:"not_applicable,omitempty"`
	Runs          []Attempt
}

// Item is a play of the plan.
type Item struct {
	Scenario string `json:"scenario"`
	Part     string `json:"part,omitempty"`
}

// NotApplicable is a scenario that a host can't be played, and why.
type NotApplicable struct {
	Scenario string `json:"scenario"`
	Host     string `json:"host"`
	Why      string `json:"why"`
}

// Planned are the scenarios of plans.
func Planned(parts ...Part) (names []string) {
	for i := range parts {
		for _, item := range parts[i].Plan {
			names = append(names, item.Scenario)
		}
	}
	return names
}

// Merge puts parts together, and says what is missing: a shard that is not there, one that was split otherwise, a
// play of the plan that nobody ran. The runs come in the order of the plan, as one machine would have made them.
func Merge(parts []Part) (all []Attempt, not []NotApplicable, missing []string) {
	parts = slices.Clone(parts)
	for i := range parts {
		for _, n := range parts[i].NotApplicable {
			if !slices.Contains(not, n) {
				not = append(not, n)
			}
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Shard.Index, b.Shard.Index), cmp.Compare(a.Name, b.Name))
	})
	for len(parts) > 0 {
		n := 1
		for n < len(parts) && parts[n].Host == parts[0].Host && parts[0].Shard.Count > 0 {
			n++
		}
		runs, lacks := mergeHost(parts[:n])
		all, missing = append(all, after(all, runs)...), append(missing, lacks...)
		parts = parts[n:]
	}
	return all, not, missing
}

// after numbers the repeats of runs on from those that are there: two parts that are no shards may hold the same play.
func after(all, runs []Attempt) []Attempt {
	last := map[compare.Play]int{}
	for i := range all {
		p := compare.PlayOf(&all[i].Judged)
		last[p] = max(last[p], all[i].Repeat)
	}
	for i := range runs {
		runs[i].Repeat += last[compare.PlayOf(&runs[i].Judged)]
	}
	return runs
}

func mergeHost(parts []Part) (all []Attempt, missing []string) {
	first := parts[0]
	seen := map[int]string{}
	for _, p := range parts {
		if p.Shard.Count != first.Shard.Count || p.Mark != first.Mark {
			missing = append(missing,
				fmt.Sprintf("%s and %s were split differently: give all shards the same scenarios, and the same runs to take costs from",
					first.Name, p.Name))
		}
		if other, twice := seen[p.Shard.Index]; twice {
			missing = append(missing, fmt.Sprintf("%s and %s are both shard %s", other, p.Name, p.Shard))
			continue
		}
		seen[p.Shard.Index] = p.Name
		all = append(all, p.Runs...)
	}
	for i := 1; i <= first.Shard.Count; i++ {
		if _, ok := seen[i]; !ok {
			missing = append(missing, fmt.Sprintf("shard %d/%d of %s is not there", i, first.Shard.Count, first.Host))
		}
	}
	return inOrder(all, first), append(missing, unplayed(all, first)...)
}

func inOrder(all []Attempt, part Part) []Attempt {
	at := func(a Attempt) int { return slices.Index(part.Plan, itemOf(compare.PlayOf(&a.Judged))) }
	slices.SortStableFunc(all, func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(at(a), at(b)), cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.Try, b.Try))
	})
	return all
}

// unplayed are the plays of the plan that lack a run.
func unplayed(all []Attempt, part Part) []string {
	repeats, _ := lists.GroupBy(all, repeatOf)
	_, played := lists.GroupBy(repeats, func(r repeat) Item { return itemOf(r.Play) })
	var missing []string
	for _, item := range part.Plan {
		not := func(n NotApplicable) bool { return n.Scenario == item.Scenario }
		got, want := len(played[item]), max(1, part.Repeat)
		if got < want && !slices.ContainsFunc(part.NotApplicable, not) {
			play := compare.Play{Scenario: item.Scenario, Host: part.Host, Part: item.Part}
			missing = append(missing, fmt.Sprintf("%s was run %d of %d times", play, got, want))
		}
	}
	return missing
}

func itemOf(p compare.Play) Item { return Item{Scenario: p.Scenario, Part: p.Part} }

// Attempt is a run with its place: the how-many-th repeat of its play, and the how-many-th try of that.
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
	repeats, tries := lists.GroupBy(all, repeatOf)
	for _, r := range repeats {
		slices.SortStableFunc(tries[r], func(a, b Attempt) int { return cmp.Compare(a.Try, b.Try) })
		out = append(out, best(tries[r]))
	}
	return out
}

// best is the last try, or an earlier one that has found what the last one has not: what was seen is a fact.
func best(tries []Attempt) verdict.Judged {
	last := tries[len(tries)-1].Judged
	for i := range tries {
		lacks := func(f verdict.Finding) bool {
			same := func(g verdict.Finding) bool { return g.Fingerprint == f.Fingerprint }
			return f.IsError() && !slices.ContainsFunc(last.Verdict.Findings, same)
		}
		if slices.ContainsFunc(tries[i].Verdict.Findings, lacks) {
			return tries[i].Judged
		}
	}
	return last
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

// flakes are the plays whose runs do not agree: retries that were needed, and repeats of which only some show a finding.
func flakes(all []Attempt, final []verdict.Judged) []Flake {
	var out []Flake
	keys, tries := lists.GroupBy(all, repeatOf)
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
		if r.Leak.Of+r.Inconclusive >= 2 && r.Flaky() {
			out = append(out, Flake{Play: r.Play, Text: "the repeats differ: " + Rates(&r)})
		}
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
