package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/text"
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
		Use:  "known",
		Args: needsSubcommand,
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.PersistentFlags().StringVar(&f.file, "known", known.File, "the list")
	show := &cobra.Command{
		Use:  "show",
		RunE: func(_ *cobra.Command, args []string) error { return a.knownShow(args, f) },
	}
	update := &cobra.Command{
		Use:  "update",
		RunE: func(_ *cobra.Command, args []string) error { return a.knownUpdate(args, f) },
	}
	update.Flags().StringVar(&f.reason, "reason", "", "why the finding is accepted for now")
	update.Flags().StringVar(&f.expires, "expires", "", fmt.Sprintf("expiry date, for example 2030-01-31 (default: in %d days)", known.Days))
	update.Flags().StringVar(&f.only, "only", "", "only this finding, scenario[:law[:fingerprint]]; with a fingerprint it needs no run")
	prune := &cobra.Command{
		Use:  "prune",
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
	return gate.RunsOf(parts), err
}

const knownHint = "docs/use/gate.md has the format; leakbench known update writes it"

func loadKnown(path string, must bool) (known.List, error) {
	l, err := known.Load(path, must)
	return l, usage(err, knownHint)
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
	var b bytes.Buffer
	baseline.Known(&b, f.file, checked, a.textOptions())
	_, err = a.out.Write(b.Bytes())
	return err
}

func (a *app) knownUpdate(args []string, f knownFlags) error {
	now := time.Now()
	expires, err := known.LastDay(f.expires, now)
	if err != nil {
		usual, _ := known.LastDay("", now)
		return usage(fmt.Errorf("--expires %w", err), "for example: --expires "+usual.Format(time.DateOnly))
	}
	if err := notStdout("--known", f.file); err != nil {
		return err
	}
	l, err := loadKnown(f.file, false)
	if err != nil {
		return err
	}
	runs, missing := latestRuns(args)
	l, renamed, err := l.Reprinted(runs, f.only, now)
	if err != nil {
		return usage(err, "")
	}
	noReason := strings.TrimSpace(f.reason) == ""
	if noReason && len(renamed) == 0 {
		return usage(errors.New("a known finding needs a reason"), `for example: --reason "upstream, owner/repository#12"`)
	}
	fresh, named := l.Fresh(runs, known.Entry{Reason: f.reason, Expires: expires}, f.only, len(args) == 0, now)
	if missing != nil && !named {
		return missing
	}
	done := lists.Map(renamed, renamedText)
	if noReason && len(fresh) > 0 {
		done = append(done, text.Count(len(fresh), "finding")+" of these runs not listed: add --reason WHY to list what is new")
		fresh = nil
	}
	edited, over, err := l.Renewed(fresh, now)
	if err != nil {
		return usage(err, "")
	}
	done = append(done, lists.Map(over, expiredText)...)
	done = append(done, lists.Map(fresh, addedText)...)
	nothing := "nothing to add: every error of these runs is listed"
	if f.only != "" {
		nothing = "nothing to add: no error of these runs that is not listed is " + text.PrintableLines(f.only)
	}
	return a.saveKnown(&edited, done, nothing)
}

func renamedText(r known.Reprint) string {
	return fmt.Sprintf("renamed  line %d: %s is %s now", r.Old.Line, r.Old.Finding(), r.New.Finding())
}

func expiredText(e known.Entry) string {
	return takenText(e) + ", expired on " + e.Expires.Format(time.DateOnly)
}

func takenText(e known.Entry) string {
	return fmt.Sprintf("taken out  line %d: %s", e.Line, e.Finding())
}

func addedText(e known.Entry) string {
	host := text.PrintableLines(cmp.Or(e.Host, "any host"))
	return fmt.Sprintf("added  %s on %s, until %s", e.Finding(), host, e.Expires.Format(time.DateOnly))
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
	edited, stale, err := l.Pruned(runs)
	if err != nil {
		return usage(err, "")
	}
	done := lists.Map(stale, func(c known.Checked) string { return takenText(c.Entry) })
	return a.saveKnown(&edited, done, "nothing to take out: no entry is stale by these runs")
}

// saveKnown writes a list that was edited, and says what was done to it.
func (a *app) saveKnown(l *known.List, done []string, nothing string) error {
	if len(done) == 0 {
		_, err := fmt.Fprintln(a.out, nothing)
		return err
	}
	named := l.File != known.File
	if err := ownFolder(filepath.Dir(l.File), "--known"); err != nil && !named {
		return err
	}
	if err := l.Save(named); err != nil {
		return usage(err, "choose another file with --known")
	}
	_, err := fmt.Fprintf(a.out, "%s\n%s has %s; commit it\n", strings.Join(done, "\n"), text.PrintableLines(l.File), l.Size())
	return err
}
