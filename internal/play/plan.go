package play

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

// DefaultHost is clean everywhere, so that the first run of a new user is green.
const DefaultHost = catalogue.Healthy

// TheHost is the host of a name, or of a command where there is one.
func TheHost(self, name string, command []string) (Host, error) {
	switch {
	case command != nil:
		spec, err := subject.FromCommand(command)
		if err != nil {
			return Host{}, &Misuse{Err: err, Remedy: HostCommand}
		}
		return Host{Spec: spec}, cmp.Or(refuse(spec), spec.Check())
	case name == "":
		name = DefaultHost
	}
	h, err := lookUp(self, name)
	if err != nil {
		return h, err
	}
	return h, h.Check()
}

func lookUp(self, name string) (Host, error) {
	spec, err := hostfile.Lookup(self, name)
	var problems yamlfile.Errors
	switch {
	case errors.As(err, &problems):
		return Host{}, &Misuse{Err: err, Hint: "docs/use/host-file.md has the format of a host file"}
	case errors.As(err, new(*fs.PathError)):
		return Host{}, &Misuse{Err: err, Hint: "leakbench init writes a host file"}
	case err != nil:
		return Host{}, &Misuse{Err: err, Hint: "leakbench list hosts shows them"}
	}
	return Host{ID: name, Spec: spec}, refuse(spec)
}

// Hosts are those that are named, each once: all, published, or as TheHost takes them. One may be missing on this machine.
func Hosts(self string, names []string) ([]Host, error) {
	var hosts []Host
	for _, name := range names {
		ids := []string{name}
		switch name {
		case "all":
			ids = hostfile.Names(self)
		case "published":
			ids = append([]string{"mcp-go", "go-sdk"}, hostfile.Presets()...)
		}
		var found []Host
		for _, id := range ids {
			h, err := lookUp(self, id)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(hosts, func(other Host) bool { return other.ID == id }) {
				found = append(found, h)
			}
		}
		if name == "published" { // what is of one kind stands side by side
			_, kinds := lists.GroupBy(found, func(h Host) bool { return h.Kind == record.KindGateway })
			found = append(kinds[false], kinds[true]...)
		}
		hosts = append(hosts, found...)
	}
	return hosts, nil
}

// Fit is what can be played of some scenarios with a host, and what is not applicable to it. A scenario of which the
// host is given one server is played once for each server that it is about.
func Fit(h Host, all []*scenarios.Scenario) (parts []*scenarios.Scenario, not []gate.NotApplicable) {
	for _, s := range all {
		these, why := fit.Cast(s, h.Spec)
		if why != "" {
			not = append(not, gate.NotApplicable{Scenario: s.Name, Host: h.Name, Why: why})
		}
		parts = append(parts, these...)
	}
	return parts, not
}

// Distinct leaves each scenario in once. Two of one name could not be told apart.
func Distinct(all []*scenarios.Scenario) ([]*scenarios.Scenario, error) {
	var plays []*scenarios.Scenario
	for _, s := range all {
		at := slices.IndexFunc(plays, func(p *scenarios.Scenario) bool { return p.Name == s.Name && p.Part == s.Part })
		switch {
		case at < 0:
			plays = append(plays, s)
		case plays[at].Source != s.Source:
			return nil, &Misuse{Err: fmt.Errorf("two scenarios have the name %q: %s", s.Name, s.File), Hint: "rename one of them"}
		}
	}
	return plays, nil
}

// Share is what all shards are to play on a host, and mine what this one does
// of it: earlier runs say how long each scenario takes.
func Share(
	shard gate.Shard, hostName string, repeat int, plays []*scenarios.Scenario, earlier []verdict.Judged,
) (part gate.Part, mine []*scenarios.Scenario) {
	part = gate.Part{Shard: shard, Host: hostName, Repeat: repeat}
	var costed []gate.Costed
	for _, p := range plays {
		part.Plan = append(part.Plan, gate.Item{Scenario: p.Name, Part: p.Part})
		guess := time.Second + time.Duration(len(p.Expand()))*20*time.Millisecond + p.Limits.Patience.D()
		costed = append(costed, gate.Costed{Name: p.String(), Cost: cmp.Or(gate.CostOf(p.Name, earlier), guess)})
	}
	if shard.Count == 0 {
		return part, plays
	}
	shards, mark := gate.Split(costed, shard.Count)
	part.Mark = mark
	return part, slices.DeleteFunc(slices.Clone(plays), func(p *scenarios.Scenario) bool {
		return !slices.Contains(shards[shard.Index-1], p.String())
	})
}

// Replay is the cell of a saved run, on its host unless another is named, with the limits that it was played with where none are
// given.
func Replay(self string, run *record.Run, seed uint64, limits Limits, name string, command []string) (c Cell, err error) {
	if run.Header.Host.Kind == record.KindServer {
		return c, &Misuse{
			Err:  errors.New("a run of leakbench server has no scenario to replay"),
			Hint: "run it again: " + text.Command(run.Header.Command),
		}
	}
	c.Seed = seed
	if seed == 0 {
		c.Seed = run.Header.Seed
	}
	if c.Scenario, err = scenarioOf(run); err != nil {
		return c, &Misuse{Err: err}
	}
	old := record.ReadCommand(run.Header.Command)
	c.Limits = limits.or(Limits(old.Limits))
	switch {
	case command != nil || name != "":
	case len(old.Argv) == 0:
		name = cmp.Or(old.Host, run.Header.Host.Name)
	case slices.ContainsFunc(old.Argv, hidden):
		return c, &Misuse{
			Err:    errors.New("the run lacks a part of the host's command, because secrets are not recorded"),
			Remedy: WholeCommand,
		}
	default:
		command = old.Argv
	}
	c.Host, err = TheHost(self, name, command)
	return c, err
}

// scenarioOf is the scenario as it was then, whatever its file says now.
func scenarioOf(run *record.Run) (*scenarios.Scenario, error) {
	then := &run.Header.Scenario
	if b, err := scenarios.Builtin(then.Name); err == nil && b.Source == then.Source {
		b.Part = then.Part
		return b, nil
	}
	file := then.File
	if file == "" {
		file = then.Name + ".yaml"
	}
	s, err := scenarios.Parse(file, []byte(then.Source))
	if err != nil {
		return nil, fmt.Errorf("this version cannot run the scenario of the run: %w", err)
	}
	s.Part = then.Part
	return s, nil
}

// hidden says that a word is not what the host was started with: redacted, or cut off.
func hidden(word string) bool {
	return strings.Contains(word, redact.Mark) || strings.Contains(word, "…")
}
