package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	board "github.com/leakbench/leakbench/internal/play/scoreboard"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/scoreboard"
	"github.com/leakbench/leakbench/report/terminal"
)

// Subject is what a report is about: runs with what several of them say
// together, or a scoreboard.
type Subject struct {
	Runs []verdict.Judged
	formats.More
	Board *board.Board
}

// Object is a kind of subject.
type Object string

// The objects. Every reporter renders runs.
const (
	Gate       Object = "gate"
	Comparison Object = "comparison"
	Scoreboard Object = "scoreboard"
)

// Options are what reporters need besides their subject. The zero value is plain
// text, with no baseline.
type Options struct {
	Exit     formats.Exit
	Text     terminal.Options
	Baseline baseline.Baseline        // where the runs stand, for pages; its list, for a gate
	Link     func(page string) string // see scoreboard.Options
}

// Reporter is an output format.
type Reporter struct {
	Name  string // "junit"
	About string
	Of    []Object // what it renders as such; of all other subjects it renders the runs
	write func(w io.Writer, s Subject, o Options) error
}

// Write renders a subject. The error is w's.
func (r Reporter) Write(w io.Writer, s Subject, o Options) error { return r.write(w, s, o) }

var reporters = []Reporter{
	{"text", "for a terminal or a CI log", []Object{Gate, Comparison, Scoreboard}, writeText},
	{"html", "one page that needs nothing besides itself", []Object{Gate, Comparison, Scoreboard}, writeHTML},
	{"json", "one object (docs/report.schema.json)", []Object{Gate, Comparison, Scoreboard}, writeJSON},
	{"junit", "JUnit XML: a suite for each scenario and host, a case for each law", nil, ofRuns(formats.JUnit)},
	{"md", "Markdown, as for the summary of a CI step", []Object{Gate, Scoreboard}, writeMarkdown},
	{"github", "annotations of GitHub Actions", []Object{Gate}, writeGitHub},
	{"perfetto", "a trace for ui.perfetto.dev and chrome://tracing", nil, ofRuns(formats.Perfetto)},
	{"sarif", "SARIF 2.1.0 for code scanning", nil, ofRuns(formats.SARIF)},
	{"bench", "Go benchmark lines, for benchstat", nil, ofRuns(formats.Bench)},
	{"prom", "Prometheus text, for a textfile collector", nil, ofRuns(formats.Prometheus)},
}

// ofRuns is a reporter of runs that renders into memory and needs no options.
func ofRuns(render func(b *bytes.Buffer, runs []verdict.Judged) error) func(io.Writer, Subject, Options) error {
	return func(w io.Writer, s Subject, _ Options) error {
		var b bytes.Buffer
		if err := render(&b, s.Runs); err != nil {
			return fmt.Errorf("rendering the report: %w", err)
		}
		_, err := w.Write(b.Bytes())
		return err
	}
}

func writeText(w io.Writer, s Subject, o Options) error {
	switch {
	case s.Board != nil:
		return scoreboard.Text(w, s.Board)
	case s.Gate != nil:
		return baseline.Gate(w, s.Gate, o.gate())
	case s.Compare != nil:
		return baseline.Comparison(w, s.Compare, o.Text)
	}
	err := terminal.Text(w, s.Runs, o.Text)
	if err == nil && s.Repeats != nil {
		err = baseline.Repeats(w, s.Repeats, o.Text)
	}
	if err == nil && s.Replay != nil {
		err = baseline.ReplayText(w, *s.Replay, o.Text)
	}
	return err
}

func writeHTML(w io.Writer, s Subject, o Options) error {
	if s.Board != nil {
		return scoreboard.HTML(w, s.Board, scoreboard.Options{Link: o.Link})
	}
	return page.HTML(w, s.Runs, o.Baseline)
}

func writeJSON(w io.Writer, s Subject, o Options) error {
	if s.Board != nil {
		return scoreboard.JSON(w, s.Board)
	}
	return formats.JSON(w, s.Runs, o.Exit, s.More)
}

func writeMarkdown(w io.Writer, s Subject, o Options) error {
	switch {
	case s.Board != nil:
		return scoreboard.Markdown(w, s.Board, scoreboard.Options{Link: o.Link})
	case s.Gate != nil:
		return formats.GateMarkdown(w, s.Gate, o.gate())
	}
	return ofRuns(formats.Markdown)(w, s, o)
}

func writeGitHub(w io.Writer, s Subject, o Options) error {
	if s.Gate != nil {
		return formats.GateGitHub(w, s.Gate, o.gate())
	}
	return ofRuns(formats.GitHub)(w, s, o)
}

func (o Options) gate() baseline.GateOptions {
	return baseline.GateOptions{Text: o.Text, Known: o.Baseline.List, Exit: o.Exit.Code}
}

// Reporters are all output formats.
func Reporters() []Reporter { return slices.Clone(reporters) }

// ReporterNames are the names of all output formats.
func ReporterNames() []string {
	names := make([]string, len(reporters))
	for i, r := range reporters {
		names[i] = r.Name
	}
	return names
}

// Find is the reporter of a name.
func Find(name string) (Reporter, bool) {
	i := slices.IndexFunc(reporters, func(r Reporter) bool { return r.Name == name })
	if i < 0 {
		return Reporter{}, false
	}
	return reporters[i], true
}
