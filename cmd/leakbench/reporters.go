package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report"
)

// outlet is a reporter with where its output goes: file "" is standard output.
type outlet struct {
	report.Reporter
	file   string
	append bool // to a file that others write to as well
	// render takes the place of the reporter's own output: what a command says
	// of its runs together.
	render func(io.Writer) error
}

func (o *outlet) write(w io.Writer, judged []verdict.Judged, options report.Options) error {
	if o.render != nil {
		return o.render(w)
	}
	return o.Write(w, judged, options)
}

// parseOutlets reads NAME or NAME=FILE, as often as wanted. At most one of them
// has standard output.
func parseOutlets(values []string) ([]outlet, error) {
	var out []outlet
	printed := ""
	for _, value := range values {
		name, file, ok := strings.Cut(value, "=")
		r, known := report.Find(name)
		switch {
		case !known:
			return nil, usage(fmt.Errorf("--reporter %q: must be one of %v", name, report.ReporterNames()), text.DidYouMean(name, report.ReporterNames()))
		case ok && file == "":
			return nil, usage(fmt.Errorf("--reporter %s: the file has no name", value), "for example: --reporter "+name+"=report."+name)
		case file == "" && printed != "":
			return nil, usage(fmt.Errorf("reporters %s and %s both write to standard output", printed, name), "give one of them a file: --reporter "+name+"=FILE")
		case file == "":
			printed = name
		}
		if i := slices.IndexFunc(out, func(o outlet) bool { return ok && o.file != "" && filepath.Clean(o.file) == filepath.Clean(file) }); i >= 0 {
			return nil, usage(fmt.Errorf("reporters %s and %s both write to %s", out[i].Name, name, file), "give each a file of its own")
		}
		out = append(out, outlet{Reporter: r, file: file})
	}
	return out, nil
}

func reporterHelp() string {
	var b strings.Builder
	b.WriteString("Reporters, each as NAME or NAME=FILE, several with commas:\n")
	for _, r := range report.Reporters() {
		fmt.Fprintf(&b, "  %-9s %s\n", r.Name, r.About)
	}
	return b.String()
}

func reporterFlag(cmd *cobra.Command, to *[]string, preset []string, usage string) {
	cmd.Flags().StringSliceVar(to, "reporter", preset, usage)
	fixedChoice(cmd, "reporter", report.ReporterNames()...)
}

// prints says that an outlet has standard output for itself. Annotations stand
// among other lines.
func prints(outlets []outlet) bool {
	for _, o := range outlets {
		if o.file == "" && o.Name != "github" {
			return true
		}
	}
	return false
}

// ofCI are the outlets that a run has on GitHub Actions when none are asked
// for: annotations, and a summary of the step.
func ofCI() []outlet {
	var out []outlet
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if r, ok := report.Find("github"); ok {
		out = append(out, outlet{Reporter: r})
	}
	if r, ok := report.Find("md"); ok && os.Getenv("GITHUB_STEP_SUMMARY") != "" {
		out = append(out, outlet{Reporter: r, file: os.Getenv("GITHUB_STEP_SUMMARY"), append: true})
	}
	return out
}

// writeOutlets writes all of them, also when one fails.
func (a *app) writeOutlets(outlets []outlet, judged []verdict.Judged, o report.Options) error {
	var failed error
	for _, out := range outlets {
		if err := a.writeOutlet(out, judged, o); err != nil {
			failed = errors.Join(failed, fmt.Errorf("reporter %s: %w", out.Name, err))
		}
	}
	return failed
}

func (a *app) writeOutlet(out outlet, judged []verdict.Judged, o report.Options) (err error) {
	if out.file == "" {
		o.Text = a.textOptions()
		return out.write(a.out, judged, o)
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if out.append {
		flags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	var b bytes.Buffer
	if err := out.write(&b, judged, o); err != nil {
		return err
	}
	if dir := filepath.Dir(out.file); !out.append {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(filepath.Clean(out.file), flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}
