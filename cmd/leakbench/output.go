package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/terminal"
)

const defaultWidth = 100

// width is the terminal's, or 0 where there is none.
func width(w io.Writer) int {
	f, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns <= 0 {
		return defaultWidth
	}
	return columns
}

func (a *app) textOptions() terminal.Options {
	o := terminal.Options{Width: width(a.out), Verbose: a.verbose}
	tty := o.Width > 0
	o.Window = tty
	if !tty {
		o.Width = defaultWidth
		if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
			o.Width = columns
		}
	}
	o.Color = a.colored(tty)
	return o
}

// colored obeys the flag, then no-color.org, then FORCE_COLOR.
func (a *app) colored(tty bool) bool {
	switch {
	case a.color == "always":
		return true
	case a.color == "never", os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("FORCE_COLOR") != "" && os.Getenv("FORCE_COLOR") != "0":
		return true
	}
	return tty && os.Getenv("TERM") != "dumb"
}

func (a *app) progressMode(flag string) progress.Mode {
	switch {
	case flag == "none" || a.format == "json":
		return progress.None
	case flag == "auto" && width(a.err) > 0 && os.Getenv("CI") == "" && os.Getenv("TERM") != "dumb":
		return progress.Live
	}
	return progress.Plain
}

func (a *app) verboseFlag(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVarP(&a.verbose, "verbose", "v", false, what)
}

// layout is how an object is written.
type layout int

const (
	short  layout = iota // on one line
	pretty               // indented
	plain                // likewise, and <, > and & as they are
)

// object is the answer to --format json.
func (a *app) object(v any, as layout) error {
	a.printed = true
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(as != plain)
	if as != short {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// table aligns what is written to it in columns, separated by tabs.
func (a *app) table() *tabwriter.Writer { return tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0) }

// answer is what a command says of its runs.
type answer struct {
	report.Subject
	exit    formats.Exit // unless failed says otherwise
	failed  error        // what went wrong
	known   baseline.Baseline
	outlets []outlet
	suite   string // folder for the page of all runs; "": there is none
}

// conclude prints what there is to say, writes the outlets, and turns it all into the exit code.
func (a *app) conclude(said answer) error {
	var f *failure
	said.failed = a.orPanicked(said.failed)
	if said.failed != nil {
		f = failureAfter(said.failed, len(said.Runs) > 0)
		said.exit = formats.Exit{Code: f.code, Reason: f.Error()}
	}
	if len(said.Runs) > 0 || said.Gate != nil || said.Compare != nil {
		if err := bug.Catch(func() error { return a.print(said) }); err != nil {
			return errors.Join(said.failed, err)
		}
	}
	if f != nil {
		return f
	}
	return exitWhen(said.exit.Code != exitClean, said.exit.Code)
}

// failureAfter classifies an error that came before or after something ran.
func failureAfter(err error, ran bool) *failure {
	f := failureOf(err)
	var misuse *play.Misuse
	if f.code == exitUsage && ran && !errors.As(err, &misuse) {
		return &failure{exitInconclusive, f.err, f.hint} // 2 says that nothing ran
	}
	return f
}

// print writes the outlets, and the text or the object unless an outlet of the user's choice has standard output.
func (a *app) print(said answer) error {
	var err, failed error
	o := report.Options{Exit: said.exit, Text: a.textOptions(), Baseline: said.known}
	o.Text.Brief = said.suite != ""
	if a.format == "json" || !prints(said.outlets) {
		a.printed = a.format == "json"
		main, _ := report.Find(a.format)
		err = bug.Catch(func() error { return main.Write(a.out, said.Subject, o) })
		if errors.Is(err, syscall.EPIPE) {
			err = nil // nobody reads it: the exit code says it, and the run's folder
		}
	}
	err = errors.Join(err, bug.Catch(func() error { return a.writeSuite(said) }))
	if said.known.Answer { // a gate's: the runs' own pages say what it makes of them
		failed = errors.Join(failed, play.WritePages(said.Runs, said.known))
	}
	said.Compare, said.Repeats, said.Replays = nil, nil, nil // which are for who looks on
	if said.Gate == nil {
		o.Text = terminal.Options{}
	}
	o.Text.Color = false
	failed = errors.Join(failed, a.writeOutlets(said.outlets, said.Subject, o))
	return errors.Join(err, usage(failed, "choose another file"))
}

// suiteFile is the page of all runs of a command, in the folder of the runs.
const suiteFile = "suite.html"

// writeSuite writes the page of all runs, which leakbench open opens, and says where it is. Nobody has asked for it: that
// it could not be written changes no answer, unless that is a bug.
func (a *app) writeSuite(said answer) error {
	if said.suite == "" || len(said.Runs) == 0 {
		return nil
	}
	page := filepath.Join(said.suite, suiteFile)
	html, _ := report.Find("html")
	err := files.Own(page, 0o600, func(w io.Writer) error { // like its runs, it is for its user alone
		return html.Write(w, said.Subject, report.Options{Exit: said.exit, Baseline: said.known})
	})
	if reached := model.Reached(said.Runs, "").String(); reached != "" {
		a.note("levels    %s\n", reached)
	}
	switch {
	case errors.As(err, new(*bug.Panic)):
		return err
	case err != nil:
		a.note("the page of all runs could not be written: %v\n", err)
	default:
		a.note("all runs  %s\n", text.PrintableLines(page))
	}
	return nil
}

// outlet is a reporter with where its output goes: file "" is standard output.
type outlet struct {
	report.Reporter
	file   string
	append bool // to a file that others write to as well
}

// parseOutlets reads NAME or NAME=FILE, as often as wanted. At most one of them has standard output.
func parseOutlets(values []string) ([]outlet, error) {
	var out []outlet
	printed := ""
	for _, value := range values {
		name, file, ok := strings.Cut(value, "=")
		if file == "-" {
			file, ok = "", false
		}
		r, known := report.Find(name)
		switch {
		case !known:
			return nil, usage(fmt.Errorf("--reporter %q: must be one of %s", name, strings.Join(report.ReporterNames(), ", ")),
				text.DidYouMean(name, report.ReporterNames()))
		case ok && file == "":
			return nil, usage(fmt.Errorf("--reporter %s: the file has no name", value), "for example: --reporter "+name+"=report."+name)
		case file == "" && printed != "":
			return nil, usage(fmt.Errorf("reporters %s and %s both write to standard output", printed, name),
				"give one of them a file: --reporter "+name+"=FILE")
		case file == "":
			printed = name
		}
		same := func(o outlet) bool { return ok && o.file != "" && filepath.Clean(o.file) == filepath.Clean(file) }
		if i := slices.IndexFunc(out, same); i >= 0 {
			return nil, usage(fmt.Errorf("reporters %s and %s both write to %s", out[i].Name, name, file), "give each a file of its own")
		}
		out = append(out, outlet{Reporter: r, file: file})
	}
	return out, nil
}

// reporterTable is what the help says of the reporters.
func reporterTable() string {
	lines := lists.Map(report.Reporters(), func(r report.Reporter) string { return fmt.Sprintf("  %-9s %s", r.Name, r.About) })
	return "Reporters, each as NAME or NAME=FILE, several with commas:\n" + strings.Join(lines, "\n")
}

func reporterFlag(cmd *cobra.Command, to *[]string, preset []string, usage string) {
	cmd.Flags().StringSliceVar(to, "reporter", preset, usage)
	completeFlag(cmd, "reporter", cobra.ShellCompDirectiveNoFileComp, report.ReporterNames)
}

// prints says that an outlet has standard output for itself.
func prints(outlets []outlet) bool {
	return slices.ContainsFunc(outlets, func(o outlet) bool { return o.file == "" && !o.Shares })
}

// outletsOf are the outputs of a command that plays: those asked for, or those
// of the CI it runs on. --format json needs standard output for itself.
func (a *app) outletsOf(cmd *cobra.Command, reporters []string) ([]outlet, error) {
	if !cmd.Flags().Changed("reporter") && len(reporters) == 0 {
		return a.ofCI(), nil
	}
	outlets, err := parseOutlets(reporters)
	if err == nil && a.format == "json" && slices.ContainsFunc(outlets, func(o outlet) bool { return o.file == "" }) {
		return nil, usage(errors.New("--format json needs standard output for itself"), "give each reporter a file: --reporter NAME=FILE")
	}
	for _, o := range outlets {
		err = cmp.Or(err, writable("--reporter", o.file))
	}
	return outlets, err
}

// ofCI are the outlets that a run has on a CI system when none are asked for.
func (a *app) ofCI() (out []outlet) {
	if a.format == "json" {
		return nil
	}
	for _, ci := range report.CISystems() {
		if os.Getenv(ci.Variable) != ci.Value {
			continue
		}
		if r, ok := report.Find(ci.Print); ok {
			out = append(out, outlet{Reporter: r})
		}
		if r, ok := report.Find(ci.Append); ok && os.Getenv(ci.To) != "" {
			out = append(out, outlet{Reporter: r, file: os.Getenv(ci.To), append: true})
		}
	}
	return out
}

// writeOutlets writes all of them, also when one fails.
func (a *app) writeOutlets(outlets []outlet, s report.Subject, o report.Options) error {
	var failed error
	for _, out := range outlets {
		if err := bug.Catch(func() error { return a.writeOutlet(out, s, o) }); err != nil {
			failed = errors.Join(failed, fmt.Errorf("reporter %s: %w", out.Name, err))
		}
	}
	return failed
}

func (a *app) writeOutlet(out outlet, s report.Subject, o report.Options) error {
	if out.file == "" {
		if s.Gate == nil {
			o.Text = a.textOptions()
		}
		return out.Write(a.out, s, o)
	}
	var b bytes.Buffer
	if err := out.Write(&b, s, o); err != nil {
		return err
	}
	if out.append {
		return files.Write(out.file, b.Bytes(), os.O_APPEND)
	}
	if err := os.MkdirAll(filepath.Dir(out.file), 0o755); err != nil {
		return err
	}
	return files.Write(out.file, b.Bytes(), os.O_TRUNC)
}

// ownFolder refuses a folder that leakbench has chosen by itself and that is a link: a repository can bring one along.
func ownFolder(dir, flag string) error {
	return usage(files.NoLink(".", dir), "remove the link, or name the folder that is meant with "+flag)
}

// unlinked refuses a folder for runs likewise, unless the command line names it.
func unlinked(cmd *cobra.Command) error {
	for _, name := range []string{"out", "dir"} {
		f := cmd.Flags().Lookup(name)
		if f != nil && !f.Changed && strings.HasPrefix(f.DefValue, ".leakbench") {
			return ownFolder(f.DefValue, "--"+name)
		}
	}
	return nil
}

// writable says before anything runs that the file of a flag, if there is one, can't be written.
func writable(flag, file string) error {
	if err := notStdout(flag, file); err != nil {
		return err
	}
	if err := files.Writable(file); err != nil {
		return usage(fmt.Errorf("%s %s: %w", flag, file, err), "choose another file")
	}
	return nil
}

// notStdout refuses what other programs call standard output: a file of that name is what nobody wants.
func notStdout(flag, file string) error {
	if file != "-" {
		return nil
	}
	return usage(fmt.Errorf("%s -: it can't be written to standard output", flag), "name a file, or ./-")
}
