package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

// Checked is what is said of a file.
type Checked struct {
	File     string          `json:"file"`
	Kind     string          `json:"kind,omitempty"` // scenario, host, known or project
	OK       bool            `json:"ok"`
	Size     *scenarios.Size `json:"size,omitempty"`    // of a scenario
	Host     string          `json:"host,omitempty"`    // the name of a host
	Entries  int             `json:"entries,omitempty"` // of a list of known findings
	Problems yamlfile.Errors `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"` // it could not be read at all
	What     string          `json:"-"`               // a word on a file that is right

	scenarios []string // that the file brings
}

// Validate reads files that people wrote. The keys of each file say what it is: a scenario, a host, a list of known findings, or a
// leakbench.yaml. - is stdin. A list of known findings may name the built-in scenarios, those that are checked beside it, and those of
// leakbench.yaml.
func Validate(paths []string, stdin io.Reader) []Checked {
	all, names := make([]Checked, len(paths)), append(scenarios.Names(), server.CheckScenarios()...)
	if here, err := Load(); err == nil {
		names = append(names, here.Own()...)
	}
	var lists []func()
	for i, path := range paths {
		c := &all[i]
		c.File = path
		name, src, err := textOf(path, stdin)
		if err != nil {
			c.conclude(err)
			continue
		}
		kind := kindOf(path, src)
		c.Kind = kind.Name
		read := func() { c.conclude(kind.read(c, text{name, src, names})) }
		if kind.Name == knownKind { // once it is known which scenarios there are
			lists = append(lists, read)
			continue
		}
		read()
		names = append(names, c.scenarios...)
	}
	for _, read := range lists {
		read()
	}
	return all
}

// text is what is read of a file.
type text struct {
	name      string // as messages call it
	src       []byte
	scenarios []string // those that there are
}

func (c *Checked) conclude(err error) {
	if c.OK = err == nil; !c.OK && !errors.As(err, &c.Problems) {
		c.Error = err.Error()
	}
}

// textOf is a file's text, and what messages call it.
func textOf(path string, stdin io.Reader) (name string, src []byte, err error) {
	name = path
	if path == "-" {
		name = "standard input"
	} else {
		var f io.ReadCloser
		if f, err = files.Open(path); err == nil {
			defer f.Close()
			stdin = f
		}
	}
	if err == nil {
		src, err = yamlfile.Source(stdin)
		src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	}
	if err != nil {
		err = fmt.Errorf("failed to read the file: %w", err)
	}
	return name, src, err
}

// Kind is a kind of files that can be checked, and has a schema.
type Kind struct {
	Name   string
	keys   *regexp.Regexp // those that only this kind has
	read   func(c *Checked, t text) error
	Schema func() []byte
}

const knownKind = "known"

// Kinds are all of them. The first is what no other is.
var Kinds = []Kind{
	{"scenario", nil, func(c *Checked, t text) error {
		s, err := scenarios.Parse(t.name, t.src)
		if err == nil {
			size := s.Size()
			c.scenarios = []string{s.Name}
			c.Size, c.What = &size, size.String()
		}
		return err
	}, scenarios.Schema},
	{"host", regexp.MustCompile(`(?m)^["']?(command|drive)["']?\s*:`), func(c *Checked, t text) error {
		spec, err := hostfile.Parse(t.name, t.src)
		c.Host, c.What = spec.Name, "host "+spec.Name
		return err
	}, hostfile.Schema},
	{knownKind, regexp.MustCompile(`(?m)^["']?known["']?\s*:`), func(c *Checked, t text) error {
		l, err := known.Parse(t.name, t.src, t.scenarios...)
		c.Entries, c.What = len(l.Entries), l.Size()
		return err
	}, known.Schema},
	{"project", regexp.MustCompile(`(?m)^["']?(host|reporters)["']?\s*:`), func(c *Checked, t text) error {
		p, err := Parse(t.name, t.src)
		c.scenarios, c.What = p.Own(), "the settings of run and gate"
		return err
	}, Schema},
}

// named are the kinds of files whose name alone tells.
var named = map[string]string{filepath.Base(known.File): knownKind, File: "project"}

// kindOf is what a file means to be.
func kindOf(path string, src []byte) Kind {
	for _, kind := range slices.Backward(Kinds[1:]) {
		if kind.keys.Match(src) || named[filepath.Base(path)] == kind.Name {
			return kind
		}
	}
	return Kinds[0]
}
