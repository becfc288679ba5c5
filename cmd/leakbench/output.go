package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/stage/progress"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/terminal"
)

const defaultWidth = 100

// width is the terminal's, or 0 where there is none.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
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

// printable keeps a file's or a host's name from steering the terminal.
func printable(s string) string { return text.Sanitize(s, '?', "\n\t") }

// encoder writes JSON objects to standard output.
func (a *app) encoder() *json.Encoder {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	return enc
}

// table aligns what is written to it in columns, separated by tabs.
func (a *app) table() *tabwriter.Writer { return tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0) }

// answer is what a command says of its runs.
type answer struct {
	report.Subject
	exit    formats.Exit // unless failed says otherwise
	failed  error        // what went wrong
	known   baseline.Baseline
	verbose bool // of a command with a flag of its own
	outlets []outlet
}

// conclude prints what there is to say, writes the outlets, and turns it all
// into the exit code.
func (a *app) conclude(said answer) error {
	var f *failure
	if said.failed != nil {
		f = failureOf(said.failed)
		said.exit = formats.Exit{Code: f.code, Reason: f.Error()}
	}
	if len(said.Runs) > 0 || said.Gate != nil || said.Compare != nil {
		if err := a.print(said); err != nil {
			return errors.Join(said.failed, err)
		}
	}
	if f != nil {
		return f
	}
	return exitWhen(said.exit.Code != exitClean, said.exit.Code)
}

// print writes the outlets, and the text or the object unless an outlet of the
// user's choice has standard output.
func (a *app) print(said answer) error {
	var err error
	o := report.Options{Exit: said.exit, Text: a.textOptions(), Against: said.known}
	o.Text.Verbose = o.Text.Verbose || said.verbose
	if a.format == "json" || !prints(said.outlets) {
		a.printed = a.format == "json"
		main, _ := report.Find(a.format)
		err = main.Write(a.out, said.Subject, o)
	}
	var failed error
	if said.known.Answer { // a gate's: the runs' own pages say what it makes of them
		failed = play.WritePages(said.Runs, said.known)
	}
	said.Compare, said.Repeats, said.Replay = nil, nil, nil // which are for who looks on
	if said.Gate == nil {
		o.Text = terminal.Options{}
	}
	o.Text.Color = false
	failed = errors.Join(failed, a.writeOutlets(said.outlets, said.Subject, o))
	if failed != nil {
		return errors.Join(err, usage(failed, "choose another file"))
	}
	return err
}
