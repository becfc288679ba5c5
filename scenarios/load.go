// Package scenarios holds the scenarios: the built-in ones, which are embedded,
// and the reader of scenario files, which says of everything that is wrong
// with a file where it stands. It does not know how a scenario is played or
// judged; what must have happened for a verdict to mean anything is its Plan.
// docs/scenario-file.md describes the format.
package scenarios

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// What is wrong with a file, and where.
type (
	// Problem is one thing that is wrong with a scenario file.
	Problem = yamlfile.Problem
	// Errors is everything that is wrong with a scenario file, in the order of
	// the file.
	Errors = yamlfile.Errors
)

// format is what messages call a scenario file.
var format = yamlfile.KindOfFile{Noun: "scenario", Doc: "docs/scenario-file.md", Instead: "use repeat, or write it out"}

// Load reads a scenario file. What is wrong with its text is an Errors.
func Load(path string) (*Scenario, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	defer f.Close()
	return Read(path, f)
}

// Read is Load for a text that is no file; name is what messages call it.
func Read(name string, r io.Reader) (*Scenario, error) {
	src, err := yamlfile.Source(r)
	if err != nil {
		return nil, fmt.Errorf("failed to read the scenario: %w", err)
	}
	return Parse(name, src)
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
