package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
)

func (a *app) shrinkCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:               "shrink",
		ValidArgsFunction: completion(cobra.ShellCompDirectiveDefault, scenarioNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			names, command := splitAtDash(cmd, args)
			return a.shrink(cmd, f, names, command)
		},
	}
	flags := cmd.Flags()
	registerHost(cmd, &f.host)
	flags.Var((*duration.Flag)(&f.For), "for", "how long all of it may take; 0: until nothing more can be taken out")
	flags.Uint64Var(&f.Seed, "seed", 0, "seed of the runs; 0: that of RUN, or draw one and print it")
	flags.StringVar(&f.known, "known", known.File, "the list of known findings")
	flags.StringVarP(&f.bench.Out, "out", "o", "", "folder to write to (default .leakbench/shrink-SEED)")
	limitFlags(flags, &f.bench.Limits, "how long the host may take to start: to say hello, or to connect to its server")
	patienceFlag(flags, &f.bench.Limits)
	jobsFlag(flags, &f.Jobs)
	return cmd
}

// givenTo is the cell that a run or the name of a scenario stands for, and the findings that the run shows.
func (f *exploreFlags) givenTo(names, command []string) (c play.Cell, shows []verdict.Finding, err error) {
	if len(names) != 1 {
		return c, nil, usage(fmt.Errorf("shrink takes one run or scenario, not %d", len(names)),
			"for example: leakbench shrink .leakbench/latest")
	}
	if command != nil && f.host != "" {
		return c, nil, errTwoHosts
	}
	if !isRun(names[0]) {
		plays, err := scenariosOf(names)
		if err != nil {
			return c, nil, err
		}
		if len(plays) != 1 {
			return c, nil, usage(errors.New("shrink takes one scenario, not all"), "leakbench list scenarios shows them")
		}
		c.Seed, c.Scenario, c.Limits = cmp.Or(f.Seed, rand.Uint64N(1<<53-1)+1), plays[0], f.bench.Limits
		c.Host, err = hostOf(f.bench.Self, f.host, command)
		return c, nil, err
	}
	judged, err := judgeAll("shrink", names)
	if err != nil {
		return c, nil, err
	}
	if shows = judged[0].Verdict.Findings; len(shows) == 0 {
		return c, nil, usage(fmt.Errorf("%s shows no finding", names[0]), "name a run that does: leakbench runs")
	}
	c, err = play.Replay(f.bench.Self, judged[0].Run, f.Seed, f.bench.Limits, f.host, command)
	return c, shows, err
}

// isRun says that a path is a saved run: a file of one, or a folder with one.
func isRun(path string) bool {
	if filepath.Ext(path) == filepath.Ext(observe.RunFile) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (a *app) shrink(cmd *cobra.Command, f exploreFlags, names, command []string) error {
	list, err := loadKnown(f.known, f.known != known.File)
	if err = cmp.Or(err, between("--jobs", f.Jobs, 0, maxJobs), own(&f.bench)); err != nil {
		return err
	}
	c, shows, err := f.givenTo(names, command)
	if err != nil {
		return err
	}
	f.Seed, f.Host, f.bench.Limits = c.Seed, c.Host, c.Limits
	if f.bench.Out == "" {
		f.bench.Out = filepath.Join(".leakbench", "shrink-"+strconv.FormatUint(f.Seed, 10))
		if err := ownFolder(filepath.Join(f.bench.Out, "scenarios"), "--out"); err != nil {
			return err
		}
	}
	a.mishap.out, a.mishap.begun = f.bench.Out, time.Now()
	f.Bench, f.Known, f.Note = &f.bench, list.Entries, a.progressed
	f.Again = againOn(f.Host)
	f.Self = fmt.Sprintf("leakbench shrink %s --host %s --seed %d", names[0], cmp.Or(f.Host.ID, f.Host.Name), f.Seed)
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	r, err := explore.Shrink(ctx, f.Params, c.Scenario, shows)
	if errors.Is(err, explore.ErrNotAgain) {
		return &failure{exitInconclusive, err, "what comes and goes needs another --seed, or is gone"}
	}
	return a.explored(r, err)
}

// againOn is the command line that plays a scenario of a file on a host.
func againOn(h play.Host) func(file string, seed uint64) string {
	return func(file string, seed uint64) string {
		return fmt.Sprintf("leakbench run %s --host %s --seed %d", file, cmp.Or(h.ID, h.Name), seed)
	}
}

// explored says what an exploration came to.
func (a *app) explored(r *explore.Result, err error) error {
	if r == nil {
		return err
	}
	if a.format == "json" {
		err = errors.Join(err, a.object(r, pretty))
	} else {
		err = errors.Join(err, r.Print(a.out, "--format json has all"))
	}
	return cmp.Or(err, exitWhen(r.New(), exitFinding), exitWhen(100*r.Inconclusive > r.Runs, exitInconclusive))
}
