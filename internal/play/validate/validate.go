// Package validate tells what a file that a person wrote means to be, a scenario,
// a host or a list of known findings, and whether it is right.
package validate

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
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/scenarios"
)

// Checked is what is said of a file.
type Checked struct {
	File     string          `json:"file"`
	Kind     string          `json:"kind,omitempty"` // scenario, host or known
	OK       bool            `json:"ok"`
	Size     *scenarios.Size `json:"size,omitempty"`    // of a scenario
	Host     string          `json:"host,omitempty"`    // the name of a host
	Entries  int             `json:"entries,omitempty"` // of a list of known findings
	Problems yamlfile.Errors `json:"problems,omitempty"`
	Error    string          `json:"error,omitempty"` // it could not be read at all
	What     string          `json:"-"`               // a word on a file that is right
}

// File reads a file for what its keys say that it means to be. - is stdin.
func File(path string, stdin io.Reader) Checked {
	c := Checked{File: path}
	name, src, err := textOf(path, stdin)
	if err == nil {
		kind := kindOf(path, src)
		c.Kind = kind.Name
		err = kind.read(&c, name, src)
	}
	if c.OK = err == nil; !c.OK && !errors.As(err, &c.Problems) {
		c.Error = err.Error()
	}
	return c
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
	read   func(c *Checked, name string, src []byte) error
	Schema func() []byte
}

// Kinds are all of them. The first is what no other is.
var Kinds = []Kind{
	{"scenario", nil, func(c *Checked, name string, src []byte) error {
		s, err := scenarios.Parse(name, src)
		if err == nil {
			size := s.Size()
			c.Size, c.What = &size, size.String()
		}
		return err
	}, scenarios.Schema},
	{"host", regexp.MustCompile(`(?m)^["']?(command|drive)["']?\s*:`), func(c *Checked, name string, src []byte) error {
		spec, err := hostfile.Parse(name, src)
		c.Host, c.What = spec.Name, "host "+spec.Name
		return err
	}, hostfile.Schema},
	{"known", regexp.MustCompile(`(?m)^["']?known["']?\s*:`), func(c *Checked, name string, src []byte) error {
		l, err := known.Parse(name, src)
		c.Entries, c.What = len(l.Entries), l.Size()
		return err
	}, known.Schema},
}

// kindOf is what a file means to be.
func kindOf(path string, src []byte) Kind {
	for _, kind := range slices.Backward(Kinds[1:]) {
		if kind.keys.Match(src) || kind.Name == "known" && filepath.Base(path) == filepath.Base(known.File) {
			return kind
		}
	}
	return Kinds[0]
}
