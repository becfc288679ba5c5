package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/cpuload"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play/selftest"
)

type selftestFlags struct {
	out   string
	jobs  int
	times int
	law   string
	busy  int
}

func (a *app) selftestCommand() *cobra.Command {
	var f selftestFlags
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Let the bench find, on this machine, what is known to be wrong with some hosts",
		Long: `Run hosts of which it is known what is wrong with them: exact, which breaks no
law, in each scenario, and for each law mutants of exact that break it alone.
The table says which laws were expected (rows) and which were found (columns).

Exit codes: 0 all as expected, 1 something else, 2 bad flag, 128+n stopped.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.selftest(cmd, f) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "keep the runs in this folder (default: they are removed)")
	cmd.Flags().IntVar(&f.jobs, "jobs", max(2, runtime.NumCPU()), "how many runs at the same time")
	cmd.Flags().IntVar(&f.times, "times", 1, "how often each of them is run")
	cmd.Flags().IntVar(&f.busy, "busy", 0, "keep so many processors busy meanwhile: the verdicts must not depend on it")
	cmd.Flags().StringVar(&f.law, "law", "", "only the mutants of this law, or none: only the healthy host")
	return cmd
}

func (a *app) selftest(cmd *cobra.Command, f selftestFlags) (err error) {
	cases, err := casesOf(f.law)
	if err != nil {
		return err
	}
	if f.times < 1 || f.times > maxTimes {
		return usage(fmt.Errorf("--times %d: must be from 1 to %d", f.times, maxTimes), "")
	}
	if f.busy < 0 || f.busy > maxBusy {
		return usage(fmt.Errorf("--busy %d: must be from 0 to %d", f.busy, maxBusy), "")
	}
	cases = slices.Repeat(cases, f.times)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if f.out == "" {
		if f.out, err = os.MkdirTemp("", "leakbench-selftest-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.out)) }()
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	stopBusy, err := cpuload.Start(ctx, self, f.busy)
	if err != nil {
		return err
	}
	defer stopBusy()
	begun := time.Now()
	results, err := selftest.Run(ctx, selftest.Params{
		Self: self, Dir: f.out, Jobs: f.jobs, Tool: tool(),
		OnResult: func(r selftest.Result) {
			if a.format != "json" {
				fmt.Fprintln(a.out, resultLine(r))
			}
		},
	}, cases)
	if err != nil {
		return err
	}
	return a.concludeSelftest(results, time.Since(begun))
}

const (
	maxTimes = 10_000
	maxBusy  = 1024
)

func casesOf(law string) ([]selftest.Case, error) {
	if law == "" {
		return selftest.Cases(), nil
	}
	rows := []string{selftest.None}
	for _, l := range verdict.Laws() {
		rows = append(rows, l.ID)
	}
	if err := oneOf("--law", law, rows...); err != nil {
		return nil, err
	}
	var cases []selftest.Case
	for _, c := range selftest.Cases() {
		if c.Law == law || c.Law == "" && law == selftest.None {
			cases = append(cases, c)
		}
	}
	return cases, nil
}

func resultLine(r selftest.Result) string {
	mark, expected, found := "✓", "no law broken", strings.Join(r.Laws, " ")+" "+strings.Join(r.Kinds, " ")
	if !r.OK {
		mark = "✗"
	}
	if r.Law != "" {
		expected = r.Law + " " + r.Kind
	}
	if len(r.Laws) == 0 {
		found = "no law broken"
	}
	if r.Skipped != "" {
		return fmt.Sprintf("- %-16s %-9s %s; skipped: %s", r.Host, r.Scenario, expected, r.Skipped)
	}
	line := fmt.Sprintf("%s %-16s %-9s %s", mark, r.Host, r.Scenario, expected)
	if r.OK {
		return line
	}
	line += "; found: " + found
	for _, d := range r.Doubts {
		line += "; unclear: " + d.Text
	}
	if r.Error != "" {
		line += "; failed: " + r.Error
	}
	return line
}

func (a *app) concludeSelftest(results []selftest.Result, took time.Duration) error {
	bad, skipped := 0, 0
	for _, r := range results {
		switch {
		case r.Skipped != "":
			skipped++
		case !r.OK:
			bad++
		}
	}
	if err := a.printSelftest(results, bad, skipped, took); err != nil {
		return err
	}
	if bad > 0 {
		return verdictExit(exitFinding)
	}
	return nil
}

func (a *app) printSelftest(results []selftest.Result, bad, skipped int, took time.Duration) error {
	matrix := selftest.Matrix(results)
	if a.format == "json" {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"ok": bad == 0, "matrix": matrix, "runs": results})
	}
	rows := []string{selftest.None}
	for _, l := range verdict.Laws() {
		rows = append(rows, l.ID)
	}
	columns := append(append([]string{}, rows...), selftest.Unclear)
	fmt.Fprintf(a.out, "\nLaw that is broken (rows) and laws that were found (columns), in runs:\n\n")
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\t%s\t\n", strings.Join(columns, "\t"))
	for _, row := range rows {
		if matrix[row] == nil {
			continue
		}
		fmt.Fprintf(table, "%s\t", row)
		for _, column := range columns {
			cell := "."
			if n := matrix[row][column]; n > 0 {
				cell = fmt.Sprint(n)
			}
			fmt.Fprintf(table, "%s\t", cell)
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	played := len(results) - skipped
	fmt.Fprintf(a.out, "\n%s in %s, %d as expected, %d not", plural(played, "run"), took.Round(time.Second), played-bad, bad)
	if skipped > 0 {
		fmt.Fprintf(a.out, "; %d skipped, which says nothing for or against", skipped)
	}
	_, err := fmt.Fprintln(a.out)
	return err
}
