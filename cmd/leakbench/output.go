package main

import (
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/stage/progress"
	"github.com/leakbench/leakbench/report"
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

func (a *app) verboseFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&a.verbose, "verbose", "v", false, "text with all values, and the evidence on each process")
}

// conclude prints the verdicts, writes the outlets, and turns the verdicts and
// what went wrong into the exit code.
func (a *app) conclude(judged []verdict.Judged, failed error, outlets []outlet) error {
	return a.concludeWith(judged, failed, outlets, addition{})
}

// addition is what a command says of several runs together, behind what is said
// of each.
type addition struct {
	more formats.More
	text func(io.Writer) error // or nil
}

func (a *app) concludeWith(judged []verdict.Judged, failed error, outlets []outlet, add addition) error {
	code, reason := exitOf(judged)
	var f *failure
	if failed != nil {
		f = failureOf(failed)
		code, reason = f.code, f.Error()
	}
	if len(judged) > 0 {
		if err := a.print(judged, code, reason, outlets, add); err != nil {
			return errors.Join(failed, err)
		}
	}
	return ending(f, code)
}

// print writes the outlets, and the text or the object unless an outlet of the
// user's choice has standard output.
func (a *app) print(judged []verdict.Judged, code int, reason string, outlets []outlet, add addition) error {
	o := report.Options{Exit: formats.Exit{Code: code, Reason: reason}, Against: againstList(judged...)}
	var err error
	switch {
	case a.format == "json":
		a.printed = true
		err = formats.JSONWith(a.out, judged, o.Exit, add.more)
	case !prints(outlets):
		err = terminal.Text(a.out, judged, a.textOptions())
		if add.text != nil {
			err = errors.Join(err, add.text(a.out))
		}
	}
	if failed := a.writeOutlets(outlets, judged, o); failed != nil {
		return errors.Join(err, usage(failed, "choose another file"))
	}
	return err
}
