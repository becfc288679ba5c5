// Package scenarios holds the scenarios: the built-in ones, which are embedded, and the reader of scenario files, which says of
// everything that is wrong with a file where it stands. It does not know how a scenario is played or judged; what must have
// happened for a verdict to mean anything is its Plan. docs/use/scenario-file.md describes the format.
package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// What is wrong with a file, and where.
type (
	// Problem is one thing that is wrong with a scenario file.
	Problem = yamlfile.Problem
	// Errors is everything that is wrong with a scenario file, in the order of the file.
	Errors = yamlfile.Errors
)

// format is what messages call a scenario file.
var format = yamlfile.KindOfFile{
	Noun: "scenario", Doc: "docs/use/scenario-file.md", Instead: "use repeat, or write it out",
	Marks: []string{"servers", "steps"},
}

// Load reads a scenario file. What is wrong with its text is an Errors.
func Load(path string) (*Scenario, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	defer f.Close()
	src, err := yamlfile.Source(f)
	if err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	return Parse(path, src)
}

// Defining names the steps that the scenario is about, each kind of them once: "break storm".
func (s *Scenario) Defining() (names []string) {
	each(s.Steps, func(step Step) {
		of := step.Session
		if of == "" {
			of = step.Label
		}
		if name := strings.TrimSpace(string(step.Op) + " " + of); step.Defining && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	return names
}

// Size is how much there is in a scenario, as it is written.
type Size struct {
	Steps   int `json:"steps"` // those inside others counted too, each once
	Servers int `json:"servers"`
	Faults  int `json:"faults"` // of scripts; those that break steps order not counted
}

// Size counts.
func (s *Scenario) Size() Size {
	size := Size{Servers: len(s.Servers)}
	each(s.Steps, func(Step) { size.Steps++ })
	for _, server := range s.Servers {
		size.Faults += len(server.Script.Faults)
	}
	return size
}

// String is the size in words.
func (s Size) String() string {
	return fmt.Sprintf("%s, %s, %s", text.Count(s.Steps, "step"), text.Count(s.Servers, "server"), text.Count(s.Faults, "fault"))
}

// Parse reads the text of a scenario; file is what messages call it. The
// error is an Errors with all that is wrong, not only the first of it.
func Parse(file string, src []byte) (*Scenario, error) {
	s := &Scenario{File: file, Source: strings.TrimPrefix(string(src), "\uFEFF")}
	if err := yamlfile.Parse(file, src, format, s.read); err != nil {
		return nil, err
	}
	return s, nil
}

//go:embed *.yaml
var builtins embed.FS

// names are the built-in scenarios in the order in which somebody new to them would run them.
var names = []string{
	"storm", "cron", "reload", "hang", "stuck", "half-open", "crash", "shutdown", "deaf", "grow", "wrapper", "helpers",
	"cancel", "deadline", "patience", "probe", "per-request", "subagents", "race", "reload-connect", "forget", "nofile",
	"stderr", "stdout", "full-pipe", "spin", "container", "lock", "watchdog", "siblings", "zombies",
	"restart", "replace", "recycled", "pid-1", "subreaper",
	"lists", "relist", "list-changed", "odd-handshakes", "odd-lists", "odd-calls", "odd-orders", "odd-ends", "odd-moments",
	"odd-jobs", "odd-reloads", "odd-closes", "odd-restarts", "killed-in-a-call", "terminated-in-a-call",
	"vanish", "checks", "check-faults", "check-cut", "sharing", "conformance",
}

// Names lists the built-in scenarios.
func Names() []string { return slices.Clone(names) }

// Builtin returns the built-in scenario of that name, or an error that names the one that was probably meant.
func Builtin(name string) (*Scenario, error) {
	src, err := builtins.ReadFile(name + ".yaml") // there is one for each of the names, and no other
	if err != nil {
		if hint := text.DidYouMean(name, names); hint != "" {
			return nil, fmt.Errorf("no scenario %q; %s", yamlfile.Clip(name), hint)
		}
		return nil, fmt.Errorf("no scenario %q; there are %s", yamlfile.Clip(name), strings.Join(names, ", "))
	}
	return Parse(name+".yaml", src)
}
