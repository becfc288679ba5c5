package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/blob"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
)

type knownFlags struct {
	file    string
	reason  string
	expires string
	only    string
}

func (a *app) knownCommand() *cobra.Command {
	var f knownFlags
	cmd := &cobra.Command{
		Use:   "known",
		Short: "Keep the list of known findings",
		Long: `Keep the list of known findings, which a gate lets pass: ` + known.File + `.
Each entry is scenario[:law[:fingerprint]] with a reason and the last day on
which it is good. An entry that is not found any more fails the gate, as does
one whose day is over.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return oneOf("known", args[0], "show", "update", "prune")
			}
			return usage(errors.New("known what?"), "leakbench known show, update or prune")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.PersistentFlags().StringVar(&f.file, "known", known.File, "the list")
	show := &cobra.Command{
		Use: "show [RUN...]", Short: "Print the list, and what became of it in some runs",
		Long: `Print the list, and what became of each entry.

RUN is a run, a folder of runs or a blob; without one it is the newest gate, and
where none has run it is the list alone.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.knownShow(args, f) },
	}
	update := &cobra.Command{
		Use: "update [RUN...] --reason WHY", Short: "Add what runs have found and the list has not",
		Long: `Add what runs have found and the list has not: each error, by its fingerprint. A
finding that only some runs of its scenario show gets "sometimes: true". It takes
the place of an entry whose day is over.

RUN is a run, a folder of runs or a blob; without one it is the newest gate.`,
		Example: `  leakbench known update --reason "upstream, owner/repository#12" --expires 2030-01-31
  leakbench known update --only storm:L1 --reason "waits for the new client" .leakbench`,
		RunE: func(_ *cobra.Command, args []string) error { return a.knownUpdate(args, f) },
	}
	update.Flags().StringVar(&f.reason, "reason", "", "why it is accepted for now")
	update.Flags().StringVar(&f.expires, "expires", "", fmt.Sprintf("last day it is good for, 2030-01-31 (default: in %d days)", known.Days))
	update.Flags().StringVar(&f.only, "only", "", "only this finding, scenario[:law[:fingerprint]]; one that is named in full needs no run here")
	prune := &cobra.Command{
		Use: "prune [RUN...]", Short: "Take out what runs have not found any more",
		Long: `Take out the entries that runs have not found any more. Entries of scenarios and
hosts that these runs have not played stay, and those of runs in doubt.

RUN is a run, a folder of runs or a blob; without one it is the newest gate.`,
		RunE: func(_ *cobra.Command, args []string) error { return a.knownPrune(args, f) },
	}
	cmd.AddCommand(show, update, prune)
	return cmd
}

var errNoGate = errors.New("no gate has run here")

// latestRuns are the runs of the arguments, or those of the newest gate.
func latestRuns(args []string) ([]verdict.Judged, error) {
	if len(args) == 0 {
		args = []string{filepath.Join(".leakbench", lastGate)}
		if _, err := os.Stat(args[0]); err != nil {
			return nil, usage(errNoGate, "name the runs: the folder .leakbench, or the file of leakbench gate --blob")
		}
	}
	parts, err := loadParts(args...)
	if err != nil {
		return nil, err
	}
	return blob.Runs(parts), nil
}

const knownHint = "docs/gate.md has the format; leakbench known update writes it"

func loadKnown(path string, must bool) (known.List, error) {
	l, err := known.Load(path, must)
	if err != nil {
		return l, usage(err, knownHint)
	}
	return l, nil
}

func (a *app) knownShow(args []string, f knownFlags) error {
	l, err := loadKnown(f.file, f.file != known.File)
	if err != nil {
		return err
	}
	runs, err := latestRuns(args)
	if err != nil && !errors.Is(err, errNoGate) { // which is said where no run is named
		return err
	}
	checked := l.Check(runs, time.Now())
	if a.format == "json" {
		a.printed = true
		return formats.KnownJSON(a.out, checked)
	}
	return baseline.Known(a.out, f.file, checked, a.textOptions())
}

func (a *app) knownUpdate(args []string, f knownFlags) error {
	now := time.Now()
	expires, err := f.reasoned(now)
	if err != nil {
		return err
	}
	l, err := loadKnown(f.file, false)
	if err != nil {
		return err
	}
	fresh, err := f.fresh(args, &l, expires, now)
	if err != nil {
		return err
	}
	if len(fresh) == 0 {
		text := "every error of these runs is listed"
		if f.only != "" {
			text = fmt.Sprintf("no error of these runs that is not listed is %s", printable(f.only))
		}
		_, err := fmt.Fprintf(a.out, "nothing to add: %s\n", text)
		return err
	}
	edited, over, err := l.Renewed(fresh, now)
	if err != nil {
		return usage(err, "")
	}
	if err := writeKnown(f.file, edited.Source); err != nil {
		return err
	}
	for i := range over {
		fmt.Fprintf(a.out, "taken out  line %d: %s, expired on %s\n", over[i].Line, over[i].Finding(), over[i].Expires.Format(time.DateOnly))
	}
	for i := range fresh {
		e, on := &fresh[i], "any host"
		if e.Host != "" {
			on = e.Host
		}
		fmt.Fprintf(a.out, "added  %s on %s, until %s\n", e.Finding(), printable(on), e.Expires.Format(time.DateOnly))
	}
	_, err = fmt.Fprintf(a.out, "%s has %s; commit it\n", printable(f.file), entries(len(edited.Entries)))
	return err
}

// reasoned checks what an entry needs of a person, and says its last day.
func (f *knownFlags) reasoned(now time.Time) (expires time.Time, err error) {
	if strings.TrimSpace(f.reason) == "" {
		return expires, usage(errors.New("a known finding needs a reason"), `for example: --reason "upstream, owner/repository#12"`)
	}
	expires = now.UTC().AddDate(0, 0, known.Days).Truncate(24 * time.Hour)
	if f.expires == "" {
		return expires, nil
	}
	day, err := time.Parse(time.DateOnly, f.expires)
	if err != nil {
		return expires, usage(fmt.Errorf("--expires %q is no day", f.expires), "for example: --expires "+expires.Format(time.DateOnly))
	}
	if day.Before(now.UTC().Truncate(24 * time.Hour)) {
		return expires, usage(fmt.Errorf("--expires %s is over already", f.expires), "for example: --expires "+expires.Format(time.DateOnly))
	}
	return day, nil
}

// fresh are the entries to add: what the runs have found, or of that --only.
// A finding that is named in full needs no run here: it is that of another
// machine, whose report says how to accept it.
func (f *knownFlags) fresh(args []string, l *known.List, expires, now time.Time) ([]known.Entry, error) {
	runs, missing := latestRuns(args)
	unlisted := func(l *known.List) []known.Entry {
		return slices.DeleteFunc(l.Unlisted(runs, f.reason, expires, now), func(e known.Entry) bool {
			return f.only != "" && e.Finding() != f.only && !strings.HasPrefix(e.Finding(), f.only+":")
		})
	}
	kept := unlisted(l)
	if len(kept) > 0 || f.only == "" || len(args) > 0 || len(unlisted(&known.List{})) > 0 {
		return kept, missing
	}
	named, err := known.Named(f.only, f.reason, expires)
	if err != nil {
		return nil, missing
	}
	if l.Has(&named, now) {
		return nil, nil
	}
	return []known.Entry{named}, nil
}

func (a *app) knownPrune(args []string, f knownFlags) error {
	l, err := loadKnown(f.file, true)
	if err != nil {
		return err
	}
	runs, err := latestRuns(args)
	if err != nil {
		return err
	}
	stale := map[int]bool{}
	for _, c := range l.Check(runs, time.Time{}) { // a day that is over makes no entry stale
		if c.State == known.Stale {
			stale[c.Line] = true
			fmt.Fprintf(a.out, "taken out  line %d: %s\n", c.Line, c.Finding())
		}
	}
	if len(stale) == 0 {
		_, err := fmt.Fprintln(a.out, "nothing to take out: no entry is stale by these runs")
		return err
	}
	edited, err := l.Without(func(e *known.Entry) bool { return stale[e.Line] })
	if err != nil {
		return usage(err, "")
	}
	if err := writeKnown(f.file, edited.Source); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s has %s; commit it\n", printable(f.file), entries(len(edited.Entries)))
	return err
}

func entries(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

// writeKnown replaces the list as a whole.
func writeKnown(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return usage(err, "choose another file with --known")
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(text), 0o644); err != nil {
		return usage(err, "choose another file with --known")
	}
	return os.Rename(temporary, path)
}
