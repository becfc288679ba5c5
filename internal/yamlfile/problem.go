package yamlfile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/text"
)

// maxProblems is how many problems of one file are reported. The first ones help whoever has more.
const maxProblems = 50

// maxGathered bounds what a hostile file costs.
const maxGathered = 1000

// Problem is one thing that is wrong with a file.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1, in characters
	Message string `json:"message"`
	Snippet string `json:"snippet,omitempty"` // the line and, below it, a caret under the place
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	if p.Snippet != "" {
		s += "\n" + p.Snippet
	}
	return s
}

// Errors is everything that is wrong with a file, in the order of the file.
type Errors []Problem

// Error gives each problem with its place and its line.
func (e Errors) Error() string { return strings.Join(lists.Map(e, Problem.String), "\n") }

// Collector gathers the problems of one text.
type Collector struct {
	file     string
	lines    []string
	Problems []Problem
	told     map[Problem]bool
}

// newCollector is for the problems of a text; file is what messages call it.
func newCollector(file string, src []byte) *Collector {
	return &Collector{file: file, lines: strings.Split(string(src), "\n"), told: map[Problem]bool{}}
}

// Add notes a problem once, however often it is found.
func (c *Collector) Add(line, column int, format string, args ...any) {
	if len(c.Problems) >= maxGathered {
		return
	}
	line = min(max(line, 1), len(c.lines))
	column = min(max(column, 1), utf8.RuneCountInString(c.line(line))+1)
	p := Problem{File: c.file, Line: line, Column: column, Message: printable(fmt.Sprintf(format, args...))}
	if !c.told[p] {
		c.told[p] = true
		c.Problems = append(c.Problems, p)
	}
}

// errors returns what was gathered, or nil.
func (c *Collector) errors() error {
	if len(c.Problems) == 0 {
		return nil
	}
	slices.SortStableFunc(c.Problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	kept := c.Problems[:min(len(c.Problems), maxProblems)]
	for i := range kept {
		kept[i].Snippet = c.snippet(kept[i].Line, kept[i].Column)
	}
	if more := len(c.Problems) - len(kept); more > 0 {
		orNot := ""
		if len(c.Problems) == maxGathered {
			orNot = "or "
		}
		last := c.Problems[len(kept)]
		kept = append(slices.Clone(kept), Problem{
			File: c.file, Line: last.Line, Column: last.Column, Message: fmt.Sprintf("and %d %smore from here on", more, orNot),
		})
	}
	return Errors(kept)
}

func (c *Collector) line(n int) string { return strings.TrimSuffix(c.lines[n-1], "\r") }

// printable replaces what a terminal would not print, or would obey, character by character.
func printable(s string) string {
	return text.Sanitize(strings.NewReplacer("\t", " ", "\n", " ").Replace(s), unicode.ReplacementChar, "")
}

// snippet is the line with a caret under the column. Of a long line it shows the surroundings of the place.
func (c *Collector) snippet(line, column int) string {
	const before, after = 60, 40
	text := []rune(printable(c.line(line)))
	if len(strings.TrimSpace(string(text))) == 0 {
		return ""
	}
	at := column - 1
	from, to := max(0, at-before), min(len(text), at+after)
	head, tail := "", ""
	if from > 0 {
		head = "..."
	}
	if to < len(text) {
		tail = "..."
	}
	const margin = "    "
	shown := head + strings.TrimRight(string(text[from:to]), " ") + tail
	return margin + shown + "\n" + margin + strings.Repeat(" ", len(head)+at-from) + "^"
}
