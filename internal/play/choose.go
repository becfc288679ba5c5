package play

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
			return nil, &Misuse{fmt.Errorf("--law %q: must be one of %s", id, strings.Join(law.IDs(), ", ")), text.DidYouMean(id, law.IDs())}
		}
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool {
		return !meets(c.Laws, s.Laws) || !meets(c.Tags, s.Tags) || !meets(levels, []record.Level{s.Level})
	})
	if len(all) > 0 && len(chosen) == 0 {
		return nil, c.none(all)
	}
	return chosen, nil
}

// none is the error where no scenario is left.
func (c Choice) none(all []*scenarios.Scenario) error {
	unknown := func(tag string) bool {
		return !slices.ContainsFunc(all, func(s *scenarios.Scenario) bool { return slices.Contains(s.Tags, tag) })
	}
	if i := slices.IndexFunc(c.Tags, unknown); i >= 0 {
		return &Misuse{
			fmt.Errorf("--tag %q: no scenario has this tag", c.Tags[i]),
			"of the built-in scenarios some have the tag " + scenarios.TagQuick,
		}
	}
	return &Misuse{
		errors.New("no scenario matches --law, --tag and --level together"),
		"leakbench list scenarios --format json shows the laws, tags and levels of each",
	}
}

// OfServer is the scenarios with the one server that was named, for a host that is given one.
func OfServer(plays []*scenarios.Scenario, server string, h Host) ([]*scenarios.Scenario, error) {
	if server == "" {
		return plays, nil
	}
	if h.HoldsAll() {
		return nil, &Misuse{fmt.Errorf("--server %s: %s launches all servers of a scenario", server, h.Name), "leave --server out"}
	}
	for _, p := range plays {
		if !slices.ContainsFunc(p.Servers, func(s scenarios.Server) bool { return s.Label == server }) {
			labels := lists.Map(p.Servers, func(s scenarios.Server) string { return s.Label })
			return nil, &Misuse{fmt.Errorf("--server %s: %s has no such server", server, p.Name), "its servers are " + strings.Join(labels, ", ")}
		}
		p.Part = server
	}
	return plays, nil
}

// levelGist is what each level is about, in a few words.
var levelGist = map[record.Level]string{
	record.Orderly:  "what any client that is closed has to do",
	record.Stubborn: "deaf servers, launchers, helpers, full pipes",
	record.Sudden:   "the host or its client is killed",
}

// LevelNote says which level is played where no scenario was named, and what the others are.
func LevelNote(plays []*scenarios.Scenario) string {
	others := lists.Map(record.Levels()[1:], func(l record.Level) string { return fmt.Sprintf("--level %s (%s)", l, levelGist[l]) })
	return fmt.Sprintf("level %s: %d of %d scenarios, %s\nothers  %s, or leakbench run all",
		record.Orderly, len(plays), len(scenarios.Names()), levelGist[record.Orderly], strings.Join(others, ", "))
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
			return nil, &Misuse{
				fmt.Errorf("--level %q: must be one of %s, or 1 to %d", name, strings.Join(names, ", "), len(known)),
				text.DidYouMean(name, names),
			}
		}
		levels = append(levels, known[at])
	}
	return levels, nil
}
