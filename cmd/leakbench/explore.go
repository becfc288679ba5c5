package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
)

type exploreFlags struct {
	explore.Params
	bench play.Bench
	host  string
	known string
}

func (a *app) exploreCommand() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use: "explore",
		RunE: func(cmd *cobra.Command, args []string) error {
			names, command := splitAtDash(cmd, args)
			if err := noArgs(cmd, names); err != nil {
				return err
			}
			return a.explore(cmd, f, command)
		},
	}
	flags := cmd.Flags()
	registerHost(cmd, &f.host)
	flags.Var((*duration.Flag)(&f.For), "for", "how long all of it may take; 0: until --runs (default 10m without --runs)")
	flags.IntVar(&f.Runs, "runs", 0, "how many scenarios to run; 0: as many as --for allows")
	flags.Uint64Var(&f.Seed, "seed", 0, "seed of the scenarios; 0: draw one and print it")
	flags.StringVar(&f.Corpus, "corpus", "", "folder that keeps scenarios worth running again; gate --corpus runs them")
	flags.StringVar(&f.known, "known", known.File, "the list of known findings")
	flags.StringVarP(&f.bench.Out, "out", "o", "", "folder to write to (default .leakbench/explore-SEED)")
	flags.BoolVar(&f.Whole, "keep-runs", false, "keep all runs, not only those that show something new")
	flags.IntVar(&f.Shrink, "shrink", 1, "how many findings of one law and kind to make small, if they differ in their cause; 0: none")
	limitFlags(flags, &f.bench.Limits, "how long the host may take to start: to say hello, or to connect to its server")
	jobsFlag(flags, &f.Jobs)
	return cmd
}

func (a *app) explore(cmd *cobra.Command, f exploreFlags, command []string) error {
	if f.Runs == 0 && f.For == 0 {
		f.For = 10 * time.Minute
	}
	f.Seed = cmp.Or(f.Seed, rand.Uint64N(1<<53-1)+1)
	if f.bench.Out == "" {
		f.bench.Out = filepath.Join(".leakbench", "explore-"+strconv.FormatUint(f.Seed, 10))
		if err := ownFolder(filepath.Join(f.bench.Out, "scenarios"), "--out"); err != nil {
			return err
		}
	}
	a.mishap.out, a.mishap.begun = f.bench.Out, time.Now()
	list, err := loadKnown(f.known, f.known != known.File)
	if err = cmp.Or(err, between("--runs", f.Runs, 0, maxExplored), between("--jobs", f.Jobs, 0, maxJobs),
		between("--shrink", f.Shrink, 0, maxExplored), own(&f.bench)); err != nil {
		return err
	}
	f.Bench, f.Known, f.Note = &f.bench, list.Entries, a.progressed
	if f.Host, err = hostOf(f.bench.Self, f.host, command); err != nil {
		return err
	}
	named := cmp.Or(f.Host.ID, f.Host.Name)
	f.Self = fmt.Sprintf("leakbench explore --host %s --seed %d", named, f.Seed)
	f.Again = againOn(f.Host)
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	r, err := explore.Run(ctx, f.Params)
	return a.explored(r, err)
}
