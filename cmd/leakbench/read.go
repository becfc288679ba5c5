package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/report/formats"
)

func (a *app) judgeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "judge",
		RunE: func(_ *cobra.Command, args []string) error {
			judged, err := judgeAll("judge", args)
			if err != nil {
				return err
			}
			return a.conclude(answerOf(judged, nil, nil))
		},
	}
	a.verboseFlag(cmd, "print all values and the evidence on each process")
	return cmd
}

// judgeAll judges the runs that a command was given.
func judgeAll(command string, paths []string) ([]verdict.Judged, error) {
	if len(paths) == 0 {
		return nil, usage(errors.New("no run given"), "for example: leakbench "+command+" .leakbench/latest")
	}
	var judged []verdict.Judged
	var failed error
	for _, path := range paths {
		j, err := play.Load(path)
		failed = errors.Join(failed, err)
		judged = append(judged, j)
	}
	return judged, usage(failed, "a run is a folder that leakbench run made, or its run.jsonl")
}

func (a *app) reportCommand() *cobra.Command {
	var reporters []string
	var f reportFlags
	cmd := &cobra.Command{
		Use: "report",
		RunE: func(c *cobra.Command, args []string) error {
			return a.report(args, reporters, f, c.Flags().Changed("format"))
		},
	}
	cmd.Flags().StringArrayVar(&f.base, "base", nil, "earlier run to compare with on the page; may be repeated")
	cmd.Flags().StringVar(&f.known, "known", known.File, "the list of known findings, for the page")
	reporterFlag(cmd, &reporters, nil, "output formats, each NAME or NAME=FILE (default: html, on a terminal text)")
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "file to write to, for a single reporter (default: standard output)")
	return cmd
}

type reportFlags struct {
	base       []string
	known, out string
}

// reportOutlets are where a report goes.
func (a *app) reportOutlets(reporters []string, f reportFlags) ([]outlet, error) {
	if f.out != "" && len(reporters) > 1 {
		return nil, usage(errors.New("-o takes the output of one reporter"), "give each its own: --reporter html=a.html,json=b.json")
	}
	if len(reporters) == 0 {
		reporters = []string{"html"}
		if f.out == "" && width(a.out) > 0 {
			reporters[0] = "text" // nobody reads a page's source in a terminal
		}
	}
	outlets, err := parseOutlets(reporters)
	if err != nil || f.out == "" || f.out == "-" {
		return outlets, err
	}
	if outlets[0].file != "" {
		return nil, usage(fmt.Errorf("reporter %s has two files: %s and %s", outlets[0].Name, outlets[0].file, f.out),
			"give it one: -o FILE or --reporter "+outlets[0].Name+"=FILE")
	}
	outlets[0].file = f.out
	return outlets, nil
}

func (a *app) report(args, reporters []string, f reportFlags, formatted bool) error {
	if formatted {
		return usage(errors.New("report has --reporter, not --format"), "for example: --reporter text, or --reporter json=report.json")
	}
	outlets, err := a.reportOutlets(reporters, f)
	if err != nil {
		return err
	}
	judged, err := judgeAll("report", args)
	if err != nil {
		return err
	}
	var base []verdict.Judged
	if len(f.base) > 0 {
		if base, err = judgeAll("report", f.base); err != nil {
			return err
		}
	}
	var o report.Options
	if slices.ContainsFunc(outlets, func(o outlet) bool { return o.Name == "html" }) { // no other output looks at them
		if o.Baseline, err = play.Compared(judged, base, f.known, f.known != known.File); err != nil {
			return usage(err, knownHint)
		}
	}
	outcome, reason := gate.OfRuns(judged)
	o.Exit = formats.Exit{Code: exitOf(outcome), Reason: reason}
	return usage(a.writeOutlets(outlets, report.Subject{Runs: judged}, o), "choose another file with -o or --reporter NAME=FILE")
}

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "explain",
		ValidArgsFunction: completion(cobra.ShellCompDirectiveNoFileComp, explainable),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("explain takes one law, kind or doubt, not %d", len(args)),
					"for example: leakbench explain superseded; leakbench list laws and leakbench list kinds show them")
			}
			text, err := law.Explain(args[0])
			if err != nil {
				return usage(err, "leakbench list laws and leakbench list kinds show them; the doubts are in docs/understand/laws.md")
			}
			if a.format == "json" {
				return a.object(map[string]string{"id": args[0], "text": text}, short)
			}
			_, err = fmt.Fprintln(a.out, strings.TrimRight(text, "\n"))
			return err
		},
	}
}

func explainable() []string {
	names := law.EveryID()
	for _, k := range law.Kinds() {
		names = append(names, k.ID)
	}
	for _, d := range law.Doubts() {
		names = append(names, string(d.Code))
	}
	return names
}

func (a *app) openCommand() *cobra.Command {
	var printOnly bool
	cmd := &cobra.Command{
		Use: "open",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("open takes one run, not %d", len(args)), "for example: leakbench open "+args[0])
			}
			page, err := pageOf(append(args, newest(".leakbench"))[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(a.out, text.PrintableLines(page))
			if !printOnly {
				err = play.Browse(page)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "print the path of the report instead of opening it")
	return cmd
}

// newest is what was written last in a folder of runs: the page of all runs of a command, or a run.
func newest(out string) string {
	suite, latest := filepath.Join(out, suiteFile), record.Newest(filepath.Join(out, "latest"))
	all, err := os.Stat(suite)
	run, missing := os.Stat(filepath.Join(latest, observe.RunFile))
	if err == nil && (missing != nil || !run.ModTime().After(all.ModTime())) {
		return suite
	}
	return latest
}

// pageOf is the report of a run, which is rendered where there is none yet.
func pageOf(run string) (string, error) {
	run = record.Newest(run)
	info, err := os.Stat(run)
	switch {
	case err != nil:
		return "", usage(fmt.Errorf("no run: %w", err), "leakbench run storm makes one")
	case !info.IsDir() && strings.HasSuffix(run, ".html"):
		return filepath.Abs(run)
	case !info.IsDir():
		run = filepath.Dir(run)
	}
	if run, err = filepath.EvalSymlinks(run); err == nil {
		run, err = filepath.Abs(run)
	}
	if err != nil {
		return "", err
	}
	page := filepath.Join(run, observe.ReportFile)
	if _, err := os.Stat(page); err == nil {
		return page, nil
	}
	judged, err := judgeAll("open", []string{run})
	if err == nil {
		err = play.WritePage(page, play.Listed(judged...), judged...)
	}
	return page, err
}
