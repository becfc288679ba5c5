package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/cpuload"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/selftest"
)

// What a typing error may cost.
const (
	maxTimes = 10_000
	maxBusy  = 1024
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
		RunE: func(cmd *cobra.Command, _ []string) error { return a.selftest(cmd.Context(), f) },
	}
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "keep the runs in this folder (default: they are removed)")
	cmd.Flags().IntVar(&f.jobs, "jobs", max(2, runtime.NumCPU()), "how many runs at the same time")
	cmd.Flags().IntVar(&f.times, "times", 1, "how often each of them is run")
	cmd.Flags().IntVar(&f.busy, "busy", 0, "keep so many processors busy meanwhile: the verdicts must not depend on it")
	cmd.Flags().StringVar(&f.law, "law", "", "only the mutants of this law, or none: only the healthy host")
	return cmd
}

func (a *app) selftest(ctx context.Context, f selftestFlags) (err error) {
	if f.law != "" {
		err = oneOf("--law", f.law, selftest.Rows()...)
	}
	if err := firstOf(err, between("--times", f.times, 1, maxTimes), between("--busy", f.busy, 0, maxBusy)); err != nil {
		return err
	}
	bench := play.Bench{Tool: tool()}
	if bench.Self, err = os.Executable(); err != nil {
		return err
	}
	if f.out == "" {
		if f.out, err = os.MkdirTemp("", "leakbench-selftest-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.out)) }()
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	stopBusy, err := cpuload.Start(ctx, bench.Self, f.busy)
	if err != nil {
		return err
	}
	defer stopBusy()
	begun := time.Now()
	results, err := selftest.Run(ctx, selftest.Params{
		Self: bench.Self, Dir: f.out, Jobs: f.jobs, Play: bench.One,
		OnResult: func(r selftest.Result) {
			if a.format != "json" {
				fmt.Fprintln(a.out, r)
			}
		},
	}, slices.Repeat(selftest.Of(f.law), f.times))
	if err != nil {
		return err
	}
	return a.concludeSelftest(results, time.Since(begun))
}

func (a *app) concludeSelftest(results []selftest.Result, took time.Duration) (err error) {
	bad, _ := selftest.Count(results)
	if a.format == "json" {
		err = a.encoder().Encode(map[string]any{"ok": bad == 0, "matrix": selftest.Matrix(results), "runs": results})
	} else {
		err = selftest.Write(a.out, results, took)
	}
	return firstOf(err, exitWhen(bad > 0, exitFinding))
}
