package play

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
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
		return !meets(c.Laws, s.Laws) || !meets(c.Tags, s.Tags) || !meets(levels, []record.Level{s.Level})
	})
	if len(all) > 0 && len(chosen) == 0 {
		return nil, &Misuse{errors.New("no scenario matches --law, --tag and --level together"), "leakbench list scenarios --format json shows all of them"}
	}
	return chosen, nil
}

// meets says that one of a list is among others, or that the list is empty.
func meets[T comparable](wanted, have []T) bool {
	return len(wanted) == 0 || slices.ContainsFunc(wanted, func(w T) bool { return slices.Contains(have, w) })
}

func levelsOf(wanted []string) (levels []record.Level, err error) {
	known := record.Levels()
	for _, name := range wanted {
		at := slices.IndexFunc(known, func(l record.Level) bool { return string(l) == name })
		if len(name) == 1 && name[0] > '0' && int(name[0]-'0') <= len(known) {
			at = int(name[0] - '1')
		}
		if at < 0 {
			names := lists.Map(known, func(l record.Level) string { return string(l) })
			return nil, &Misuse{fmt.Errorf("--level %q: must be one of %v, or 1 to %d", name, known, len(known)), text.DidYouMean(name, names)}
		}
		levels = append(levels, known[at])
	}
	return levels, nil
}
