// Package report is the front door of the reports: the table of output formats. Its rooms, from the ground floor up:
//
//	words       text of others made harmless; numbers, times and sizes in words
//	model       a judged run as every report shows it
//	terminal    text for a terminal or a CI log
//	baseline    new, known, fixed: runs beside a list and beside earlier runs
//	formats     JSON, JUnit, Markdown, GitHub, SARIF, Perfetto, bench, Prometheus
//	page        one HTML page for people, with its script and style
//	scoreboard  hosts by scenarios
//
// Each renderer is a function of its input alone: the same runs give the same bytes. Whatever another process wrote
// (names, messages, arguments) is hostile here: it is capped, and what could steer a terminal, a CI log or a browser
// is made visible instead of obeyed.
package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/compare"
	board "github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/scoreboard"
	"github.com/leakbench/leakbench/report/terminal"
)

// Subject is what a report is about: runs with what several of them say together, or a scoreboard.
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

// Options are what reporters need besides their subject. The zero value is plain text, with no baseline.
type Options struct {
	Exit     formats.Exit
	Text     terminal.Options
	Baseline baseline.Baseline // where the runs stand, for pages; its list, for a gate
	Link     scoreboard.Link   // of a scoreboard
}

// Reporter is an output format.
type Reporter struct {
	Name   string // "junit"
	About  string
	Of     []Object // what it renders as such; of all other subjects it renders the runs. nil: it renders runs alone
	Shares bool     // its lines are read among others: on standard output, it does not take the place of the text
	render func(b *bytes.Buffer, s Subject, o Options) error
}

// Write renders a subject.
func (r Reporter) Write(w io.Writer, s Subject, o Options) error {
	var b bytes.Buffer
	if err := r.render(&b, s, o); err != nil {
		return fmt.Errorf("rendering the report: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

var reporters = []Reporter{
	{Name: "text", About: "for a terminal or a CI log", Of: []Object{Gate, Comparison, Scoreboard}, render: writeText},
	{Name: "html", About: "one page that needs nothing besides itself", Of: []Object{Gate, Comparison, Scoreboard}, render: writeHTML},
	{Name: "json", About: "one object (docs/schema/report.schema.json)", Of: []Object{Gate, Comparison, Scoreboard}, render: writeJSON},
	{Name: "junit", About: "JUnit XML: a suite for each scenario and host, a case for each law", render: ofRuns(formats.JUnit)},
	{Name: "md", About: "Markdown, as for the summary of a CI step", Of: []Object{Gate, Scoreboard}, render: writeMarkdown},
	{Name: "github", About: "annotations of GitHub Actions", Of: []Object{Gate}, Shares: true, render: writeGitHub},
	{Name: "perfetto", About: "a trace for ui.perfetto.dev and chrome://tracing", render: ofRuns(formats.Perfetto)},
	{Name: "sarif", About: "SARIF 2.1.0 for code scanning", render: ofRuns(formats.SARIF)},
	{Name: "bench", About: "Go benchmark lines, for benchstat", render: ofRuns(formats.Bench)},
	{
		Name: "conformance", About: "checks.json, as the MCP conformance suite writes it: rows of the specification, and laws",
		render: ofRuns(formats.Conformance),
	},
	{Name: "prom", About: "Prometheus text, for a textfile collector", render: ofRuns(formats.Prometheus)},
}

// ofRuns is a reporter of runs that needs no options.
func ofRuns(render func(b *bytes.Buffer, runs []verdict.Judged) error) func(*bytes.Buffer, Subject, Options) error {
	return func(b *bytes.Buffer, s Subject, _ Options) error { return render(b, s.Runs) }
}

func writeText(b *bytes.Buffer, s Subject, o Options) error {
	switch {
	case s.Board != nil:
		scoreboard.Text(b, s.Board)
	case s.Gate != nil:
		baseline.Gate(b, s.Gate, o.gate())
	case s.Compare != nil:
		baseline.Comparison(b, s.Compare, o.Text)
	default:
		o.Text.NotApplicable = len(s.NotApplicable)
		terminal.Text(b, s.Runs, o.Text)
		if s.Repeats != nil {
			baseline.Repeats(b, s.Repeats, o.Text)
		}
		for i := range s.Replays {
			what := ""
			if len(s.Replays) > 1 {
				what = compare.PlayOf(&s.Runs[i]).String() + ": "
			}
			baseline.ReplayText(b, what, &s.Replays[i], o.Text)
		}
	}
	return nil
}

func writeHTML(b *bytes.Buffer, s Subject, o Options) error {
	if s.Board != nil {
		return scoreboard.HTML(b, s.Board, o.Link)
	}
	o.Baseline.NotApplicable = len(s.NotApplicable)
	if s.Gate != nil {
		o.Baseline.NotApplicable = len(s.Gate.NotApplicable)
	}
	return page.HTML(b, s.Runs, o.Baseline)
}

func writeJSON(b *bytes.Buffer, s Subject, o Options) error {
	if s.Board != nil {
		return formats.WriteJSON(b, "scoreboard", s.Board)
	}
	return formats.JSON(b, s.Runs, o.Exit, s.More)
}

func writeMarkdown(b *bytes.Buffer, s Subject, o Options) error {
	switch {
	case s.Board != nil:
		scoreboard.Markdown(b, s.Board, o.Link)
	case s.Gate != nil:
		formats.GateMarkdown(b, s.Gate, o.gate())
	default:
		formats.Markdown(b, s.Runs, len(s.NotApplicable))
	}
	return nil
}

func writeGitHub(b *bytes.Buffer, s Subject, o Options) error {
	if s.Gate != nil {
		formats.GateGitHub(b, s.Gate, o.gate())
	} else {
		formats.GitHub(b, s.Runs)
	}
	return nil
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
	for _, r := range reporters {
		if r.Name == name {
			return r, true
		}
	}
	return Reporter{}, false
}
