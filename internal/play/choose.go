package play

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Choice says which of some scenarios are played: those that have one of each list that is not empty.
type Choice struct {
	Laws   []string // that they are about
	Tags   []string
	Levels []string // by name or number
}

// Of are the scenarios of the choice, in their order. None is an error, and so is what no scenario could have.
func (c Choice) Of(all []*scenarios.Scenario) ([]*scenarios.Scenario, error) {
	levels, err := levelsOf(c.Levels)
	if err != nil {
		return nil, err
	}
	for _, id := range c.Laws {
		if !slices.Contains(law.IDs(), id) {
			return nil, &Misuse{fmt.Errorf("--law %q: must be one of %v", id, law.IDs()), text.DidYouMean(id, law.IDs())}
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool {
		return !meets(c.Laws, s.Laws) || !meets(c.Tags, s.Tags) || !meets(levels, []scenarios.Level{s.Level})
	})
	if len(all) > 0 && len(chosen) == 0 {
		return nil, &Misuse{errors.New("no scenario has all that was chosen by law, tag and level"), "leakbench list scenarios --format json has them all"}
	}
	return chosen, nil
}

// meets says that one of a list is among others, or that the list is empty.
func meets[T comparable](wanted, have []T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w T) bool { return slices.Contains(have, w) })
}

func levelsOf(wanted []string) (levels []scenarios.Level, err error) {
	known := scenarios.Levels()
	for _, name := range wanted {
		at := slices.IndexFunc(known, func(l scenarios.Level) bool { return string(l) == name })
		if len(name) == 1 && name[0] > '0' && int(name[0]-'0') <= len(known) {
			at = int(name[0] - '1')
		}
		if at < 0 {
			names := lists.Map(known, func(l scenarios.Level) string { return string(l) })
			return nil, &Misuse{fmt.Errorf("--level %q: must be one of %v, or 1 to %d", name, known, len(known)), text.DidYouMean(name, names)}
		}
		levels = append(levels, known[at])
	}
	return levels, nil
}

// Reached says how far a host gets: how many of the built-in scenarios of each level were clean, of those that were
// played. It decides nothing.
func Reached(runs []verdict.Judged) string {
	names, groups := lists.GroupBy(runs, func(j verdict.Judged) string { return j.Run.Header.Scenario.Name })
	clean, all := map[scenarios.Level]int{}, map[scenarios.Level]int{}
	for _, name := range names {
		s, err := scenarios.Builtin(name)
		if err != nil || s.Level == "" {
			continue
		}
		all[s.Level]++
		if !slices.ContainsFunc(groups[name], func(j verdict.Judged) bool { return j.Verdict.Outcome != verdict.Clean }) {
			clean[s.Level]++
		}
	}
	var parts []string
	for _, l := range scenarios.Levels() {
		if all[l] > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", l, clean[l], all[l]))
		}
	}
	return strings.Join(parts, ", ")
}
