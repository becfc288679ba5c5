package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/report/terminal"
)

// Options are what reporters need besides the runs. The zero value is plain
// text, held against nothing.
type Options struct {
	Exit    formats.Exit      // of JSON
	Text    terminal.Options  // of text
	Against baseline.Baseline // of HTML
}

// Reporter is an output format.
type Reporter struct {
	Name  string // "junit"
	About string
	write func(w io.Writer, runs []verdict.Judged, o Options) error
}

// Write renders runs. The error is w's.
func (r Reporter) Write(w io.Writer, runs []verdict.Judged, o Options) error {
	return r.write(w, runs, o)
}

var reporters = []Reporter{
	{"text", "for a terminal or a CI log", func(w io.Writer, runs []verdict.Judged, o Options) error { return terminal.Text(w, runs, o.Text) }},
	{"html", "one page that needs nothing besides itself", func(w io.Writer, runs []verdict.Judged, o Options) error { return page.HTML(w, runs, o.Against) }},
	{"json", "one object (docs/report.schema.json)", func(w io.Writer, runs []verdict.Judged, o Options) error { return formats.JSON(w, runs, o.Exit) }},
	{"junit", "JUnit XML: a suite for each scenario and host, a case for each law", inMemory(formats.JUnit)},
	{"md", "Markdown, as for the summary of a CI step", inMemory(formats.Markdown)},
	{"github", "annotations of GitHub Actions", inMemory(formats.GitHub)},
	{"perfetto", "a trace for ui.perfetto.dev and chrome://tracing", inMemory(formats.Perfetto)},
	{"sarif", "SARIF 2.1.0 for code scanning", inMemory(formats.SARIF)},
	{"bench", "Go benchmark lines, for benchstat", inMemory(formats.Bench)},
	{"prom", "Prometheus text, for a textfile collector", inMemory(formats.Prometheus)},
}

// inMemory is a reporter that renders into memory and needs no options.
func inMemory(render func(b *bytes.Buffer, runs []verdict.Judged) error) func(io.Writer, []verdict.Judged, Options) error {
	return func(w io.Writer, runs []verdict.Judged, _ Options) error {
		var b bytes.Buffer
		if err := render(&b, runs); err != nil {
			return fmt.Errorf("rendering the report: %w", err)
		}
		_, err := w.Write(b.Bytes())
		return err
	}
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
