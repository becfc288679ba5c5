// Package project reads leakbench.yaml: what leakbench run and leakbench gate play in a repository where nobody says otherwise.
package project

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/scenarios"
)

// File is where it is looked for: in the working directory.
const File = "leakbench.yaml"

// Project is what a repository says. The zero value says nothing.
type Project struct {
	Path            string // "" where there is no file
	Host            string // as in leakbench run
	Scenarios       []string
	Levels          []record.Level
	Reporters       []string // NAME or NAME=FILE
	Settle, Confirm time.Duration
	Fast            bool // leakbench run gives up early what is still running
}

// schemaURL is where the schema of the format is found, and its name.
const schemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/schema/project.schema.json"

// format is what messages call the file.
var format = yamlfile.KindOfFile{
	Noun: File, Doc: "docs/use/project-file.md", Instead: "write it out",
	Marks: []string{"host", "reporters", "scenarios", "level"},
}

const (
	maxList = 200
	maxWord = 500
)

// Load reads the file of the working directory, where there is one. What is wrong with its text is a yamlfile.Errors.
func Load() (p Project, err error) {
	f, err := files.Open(File)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	var src []byte
	if err == nil {
		defer f.Close()
		src, err = yamlfile.Source(f)
	}
	if err != nil {
		return p, fmt.Errorf("failed to read %s: %w", File, err)
	}
	return Parse(File, src)
}

// Parse reads the text of a file; path is what messages call it.
func Parse(path string, src []byte) (Project, error) {
	p := Project{Path: path}
	if err := yamlfile.Parse(path, src, format, func(root *yamlfile.Node) { p.value().Read(root) }); err != nil {
		return Project{}, err
	}
	return p, nil
}

// Own are the names of the scenario files that the project plays. A file that can't be read has no name: to play it is an error.
func (p *Project) Own() (names []string) {
	for _, file := range p.Scenarios {
		if !files.IsPath(file) {
			continue
		}
		if s, err := scenarios.Load(file); err == nil {
			names = append(names, s.Name)
		}
	}
	return names
}

// Plays says which scenarios the file chooses.
func (p *Project) Plays() (words []string) {
	if len(p.Scenarios) > 0 {
		words = append(words, "scenarios "+strings.Join(p.Scenarios, ", "))
	}
	if len(p.Levels) > 0 {
		words = append(words, fmt.Sprintf("level %s", strings.Trim(fmt.Sprint(p.Levels), "[]")))
	}
	return words
}

func (p *Project) value() yamlfile.Value {
	word := func(what string, check func(n *yamlfile.Node, s string)) func(*string) yamlfile.Value {
		return func(into *string) yamlfile.Value {
			return yamlfile.OneLine(into, what, maxWord).Then(func(n *yamlfile.Node) {
				if *into != "" {
					check(n, *into)
				}
			})
		}
	}
	list := func(into *[]string, what string, item func(*string) yamlfile.Value) yamlfile.Value {
		return yamlfile.List(into, what, item).AtMost(maxList, func(n *yamlfile.Node, count int) {
			n.Problem("%s has %d entries; at most %d", what, count, maxList)
		})
	}
	return yamlfile.Object("the file",
		yamlfile.May("host", "the host: the name of a built-in one or a preset, a host file, or the path of a driver",
			word("a host", checkHost)(&p.Host)),
		yamlfile.May("scenarios", "what to run: built-in scenarios, files, or all",
			list(&p.Scenarios, "scenarios", word("a scenario", checkScenario))),
		yamlfile.May("level", "the levels to run: orderly, stubborn, sudden",
			yamlfile.List(&p.Levels, "level", func(l *record.Level) yamlfile.Value { return yamlfile.Choice(l, "a level", record.Levels()...) })),
		yamlfile.May("reporters", "more outputs, each NAME or NAME=FILE",
			list(&p.Reporters, "reporters", word("a reporter", checkReporter))),
		yamlfile.May("settle", "how long the host may take to end a server", yamlfile.Time(&p.Settle)),
		yamlfile.May("confirm", "how long survivors are watched after settle", yamlfile.Time(&p.Confirm)),
		yamlfile.May("fast", "whether leakbench run gives up after 2 s what nobody has told to end; leakbench gate never does",
			yamlfile.Yes(&p.Fast)),
	)
}

// checkHost finds a name that no host has. Whether a file is there is a matter of the machine.
func checkHost(n *yamlfile.Node, name string) {
	preset, _, _ := strings.Cut(name, "@")
	if names := hostfile.Names("leakbench"); !files.IsPath(name) && !slices.Contains(names, preset) {
		n.Problem("there is no host %q (the path of a file begins with ./); %s", yamlfile.Clip(name), yamlfile.MeantOr(preset, names))
	}
}

func checkScenario(n *yamlfile.Node, name string) {
	if names := append(scenarios.Names(), "all"); !files.IsPath(name) && !slices.Contains(names, name) {
		n.Problem("there is no scenario %q; %s", yamlfile.Clip(name), yamlfile.MeantOr(name, names))
	}
}

func checkReporter(n *yamlfile.Node, text string) {
	name, file, named := strings.Cut(text, "=")
	if names := report.ReporterNames(); !slices.Contains(names, name) {
		n.Problem("there is no reporter %q; %s", yamlfile.Clip(name), yamlfile.MeantOr(name, names))
	} else if named && file == "" {
		n.Problem("the file of reporter %s has no name; write %s=FILE", name, name)
	}
}

// Schema is the JSON Schema (draft 2020-12) of the file, for editors. It is made of what the reader reads with.
func Schema() []byte {
	return yamlfile.DescribeFile((&Project{}).value(), schemaURL, File,
		"What leakbench run and leakbench gate do in a repository without flags: docs/use/project-file.md", yamlfile.Definitions())
}

// Text is a file for a host and scenarios, with what else it may say.
func Text(host string, names []string) string {
	return fmt.Sprintf(`# yaml-language-server: $schema=%s
# leakbench run and leakbench gate need no flags beside this file; a flag wins over it.
host: %q
scenarios: [%s]
# level: [orderly, stubborn] # what else to ask: orderly, stubborn, sudden
# reporters: [junit=junit.xml, html=leakbench-report.html]
# settle: 5s
# fast: true # leakbench run gives up after 2 s; leakbench gate waits as long as ever
`, schemaURL, host, strings.Join(names, ", "))
}
