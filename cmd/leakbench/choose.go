package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

var errTwoHosts = usage(errors.New("--host cannot be combined with a command after --"), "leave one of them out")

// hostOf is the host that a command line asks for: by name, or a command.
func hostOf(self, name string, command []string) (play.Host, error) {
	if command != nil && name != "" {
		return play.Host{}, errTwoHosts
	}
	return play.TheHost(self, name, command)
}

// scenariosOf are those that are named: built-in ones, files, or all.
func scenariosOf(names []string) ([]*scenarios.Scenario, error) {
	if len(names) == 0 {
		return nil, usage(errors.New("no scenario given"), "for example: leakbench run storm; leakbench list scenarios shows all")
	}
	if slices.Contains(names, "all") {
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "all" || slices.Contains(scenarios.Names(), n) })
		names = append(scenarios.Names(), others...)
	}
	var plays []*scenarios.Scenario
	var failed error
	for _, name := range names {
		get := scenarios.Builtin
		if files.IsPath(name) {
			get = scenarios.Load
		}
		s, err := get(name)
		failed = errors.Join(failed, err)
		plays = append(plays, s)
	}
	if i := slices.IndexFunc(names, ofCommand); failed != nil && i >= 0 {
		return nil, usage(fmt.Errorf("%q looks like a part of a command, which goes after --", names[i]), remedies[play.HostCommand])
	}
	if failed != nil {
		return nil, usage(failed, "leakbench list scenarios shows the built-in ones; docs/use/scenario-file.md has the format of a file")
	}
	return plays, nil
}

// ofCommand says that a name is no scenario's, but a word of a host's command: a placeholder, or a program.
func ofCommand(name string) bool {
	if strings.Contains(name, "{{") {
		return true
	}
	if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" || slices.Contains(scenarios.Names(), name) {
		return false
	}
	_, err := exec.LookPath(name)
	return err == nil
}

// choice says which of some scenarios are played: those that have one of each list that is not empty.
type choice struct {
	laws   []string // that they are about
	tags   []string
	levels []string // by name or number
}

// of are the scenarios of the choice, in their order. None is an error, and so is what no scenario could have.
func (c choice) of(all []*scenarios.Scenario) ([]*scenarios.Scenario, error) {
	levels, err := levelsOf(c.levels)
	for _, id := range c.laws {
		err = cmp.Or(err, oneOf("--law", id, law.IDs()...))
	}
	if err != nil {
		return nil, err
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool {
		return !meets(c.laws, s.Laws) || !meets(c.tags, s.Tags) || !meets(levels, []record.Level{s.Level})
	})
	if len(all) > 0 && len(chosen) == 0 {
		return nil, c.none(all)
	}
	return chosen, nil
}

// none is the error where no scenario is left.
func (c choice) none(all []*scenarios.Scenario) error {
	unknown := func(tag string) bool {
		return !slices.ContainsFunc(all, func(s *scenarios.Scenario) bool { return slices.Contains(s.Tags, tag) })
	}
	if i := slices.IndexFunc(c.tags, unknown); i >= 0 {
		return usage(fmt.Errorf("--tag %q: no scenario has this tag", c.tags[i]),
			"of the built-in scenarios some have the tag "+scenarios.TagQuick)
	}
	return usage(errors.New("no scenario matches --law, --tag and --level together"),
		"leakbench list scenarios --format json shows the laws, tags and levels of each")
}

// ofServer is the scenarios with the one server that was named, for a host that is given one.
func ofServer(plays []*scenarios.Scenario, server string, h play.Host) ([]*scenarios.Scenario, error) {
	if server == "" {
		return plays, nil
	}
	if h.HoldsAll() {
		return nil, usage(fmt.Errorf("--server %s: %s launches all servers of a scenario", server, h.Name), "leave --server out")
	}
	for _, p := range plays {
		if !slices.ContainsFunc(p.Servers, func(s scenarios.Server) bool { return s.Label == server }) {
			labels := lists.Map(p.Servers, func(s scenarios.Server) string { return s.Label })
			return nil, usage(fmt.Errorf("--server %s: %s has no such server", server, p.Name), "its servers are "+strings.Join(labels, ", "))
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

// levelNote says which level is played where no scenario was named, and what the others are.
func levelNote(plays []*scenarios.Scenario) string {
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
			return nil, usage(fmt.Errorf("--level %q: must be one of %s, or 1 to %d", name, strings.Join(names, ", "), len(known)),
				text.DidYouMean(name, names))
		}
		levels = append(levels, known[at])
	}
	return levels, nil
}
