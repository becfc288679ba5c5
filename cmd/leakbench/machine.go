package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/cpuload"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/doctor"
	"github.com/leakbench/leakbench/internal/record"
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
		Use:  "selftest",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.selftest(cmd.Context(), f) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "folder to keep the runs in (default: they are removed)")
	jobsFlag(cmd.Flags(), &f.jobs)
	cmd.Flags().IntVar(&f.times, "times", 1, "how often to run each of them")
	cmd.Flags().IntVar(&f.busy, "busy", 0, "number of processors to keep busy; verdicts must not depend on it")
	cmd.Flags().StringVar(&f.law, "law", "", "run only the mutants of this law; none: only the healthy host")
	return cmd
}

func (a *app) selftest(ctx context.Context, f selftestFlags) (err error) {
	if f.law != "" {
		err = oneOf("--law", f.law, doctor.Rows()...)
	}
	var bench play.Bench
	err = cmp.Or(err, between("--times", f.times, 1, maxTimes), between("--jobs", f.jobs, 0, maxJobs),
		between("--busy", f.busy, 0, maxBusy), own(&bench))
	if err != nil {
		return err
	}
	if f.out == "" {
		if f.out, err = os.MkdirTemp("", "leakbench-selftest-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.out)) }()
	} else if err := os.MkdirAll(f.out, 0o755); err != nil {
		return usage(err, "choose another folder with --out")
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	stopBusy, err := cpuload.Start(ctx, bench.Self, f.busy)
	if err != nil {
		return err
	}
	defer stopBusy()
	begun := time.Now()
	results, err := doctor.Selftest(ctx, doctor.SelftestParams{
		Self: bench.Self, Dir: f.out, Jobs: f.jobs, Play: bench.One,
		OnResult: func(r doctor.Result) {
			if a.format != "json" {
				fmt.Fprintln(a.out, r)
			}
		},
	}, slices.Repeat(doctor.CasesOf(f.law), f.times))
	if err != nil {
		return err
	}
	return a.concludeSelftest(results, time.Since(begun))
}

func (a *app) concludeSelftest(results []doctor.Result, took time.Duration) (err error) {
	bad, skipped := doctor.Count(results)
	proven := skipped < len(results)
	if a.format == "json" {
		err = a.object(map[string]any{"ok": proven && bad == 0, "matrix": doctor.Matrix(results), "runs": results}, pretty)
	} else {
		err = doctor.WriteResults(a.out, results, took)
	}
	if err == nil && !proven {
		return &failure{exitFinding, errors.New("nothing was proven: each run was skipped"), "see what this machine lacks: leakbench doctor"}
	}
	return cmp.Or(err, exitWhen(bad > 0, exitFinding))
}

func (a *app) doctorCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:  "doctor",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var bench play.Bench
			ownAnyway(&bench)
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			facts := doctor.Look(ctx, doctor.Params{Self: bench.Self, Out: out, Else: remedies[play.OtherFolder], Tool: bench.Tool})
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			checks := doctor.Diagnose(facts)
			return cmp.Or(a.printChecks(checks), exitWhen(len(facts.Lacks) > 0, exitUsage), exitWhen(!doctor.Works(checks), exitBug))
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", ".leakbench", "folder in which runs would be written")
	return cmd
}

func (a *app) printChecks(checks []doctor.Check) error {
	if a.format == "json" {
		return a.object(map[string]any{"ok": doctor.Works(checks), "checks": checks}, plain)
	}
	table := a.table()
	for _, c := range checks {
		fmt.Fprintf(table, "%s\t%s\t%s\n", c.State, c.Name, c.Found)
		if c.State != doctor.OK {
			fmt.Fprintf(table, "\t\t  %s\n\t\t  to do: %s\n", c.Means, c.Do)
		}
	}
	return table.Flush()
}

// Set by release builds (-ldflags "-X main.version=1.2.3 ..."). Others say what the toolchain has put into them: go
// install the module's version, a build in a repository its commit.
var version, commit, date = "", "", ""

// build is what is known of this program.
type build struct {
	record.Tool
	Date     string `json:"date,omitempty"`     // the commit's
	Modified bool   `json:"modified,omitempty"` // the files were others than its
}

func (b build) String() string {
	words := []string{"leakbench", b.Version}
	if b.Commit != "" {
		words = append(words, "commit", b.Commit)
	}
	if b.Modified {
		words = append(words, "(with changes)")
	}
	if b.Date != "" {
		words = append(words, "of", b.Date)
	}
	return strings.Join(append(words, "built with", b.Go), " ")
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{GoVersion: "unknown"}
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	tool := record.Tool{Version: cmp.Or(version, info.Main.Version), Commit: cmp.Or(commit, settings["vcs.revision"]), Go: info.GoVersion}
	when := cmp.Or(date, settings["vcs.time"])
	if at, err := time.Parse(time.RFC3339, when); err == nil {
		when = at.UTC().Format(time.RFC3339)
	}
	return build{tool, when, settings["vcs.modified"] == "true"}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:  "version",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if a.format == "json" {
				return a.object(b, short)
			}
			_, err := fmt.Fprintln(a.out, b)
			return err
		},
	}
}
