package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report"
	boards "github.com/leakbench/leakbench/report/scoreboard"
)

type scoreFlags struct {
	play.Scoring
	hosts, scenarios []string
	out              []string
	from             string
	links            bool
}

func (a *app) scoreCommand() *cobra.Command {
	var f scoreFlags
	cmd := &cobra.Command{
		Use:  "score",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, other := range []string{"hosts", "scenarios", "dir", "jobs", "seed", "settle", "confirm", "start", "patience"} {
				if f.from != "" && cmd.Flags().Changed(other) {
					return usage(fmt.Errorf("--from runs nothing, so --%s has no effect", other), "leave one of them out")
				}
			}
			return a.score(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.hosts, "hosts", []string{"published"},
		"hosts, named as for run --host; all: every host of leakbench hosts; published: only those of others")
	flags.StringSliceVar(&f.scenarios, "scenarios", []string{"all"}, "scenarios or scenario files")
	flags.StringArrayVarP(&f.out, "out", "o", nil, "file to write the scoreboard to: .html, .md or .json; may be repeated")
	flags.StringVar(&f.from, "from", "", "run nothing: read this .json scoreboard and write it in other formats")
	flags.StringVar(&f.Dir, "dir", filepath.Join(".leakbench", "score"), "folder for the runs; results that are there already are reused")
	jobsFlag(flags, &f.Jobs)
	flags.BoolVar(&f.links, "links", true, "link each cell to its run's report, relative to the file")
	flags.Uint64Var(&f.Seed, "seed", 1, "seed of everything random")
	limitFlags(flags, &f.Limits, "how long a host may take to start")
	patienceFlag(flags, &f.Limits)
	completeFlag(cmd, "hosts", cobra.ShellCompDirectiveDefault, func() []string { return append(hostNames(), "all", "published") })
	completeFlag(cmd, "scenarios", cobra.ShellCompDirectiveDefault, scenarioNames)
	return cmd
}

// score loads, plays what is not there yet, and writes the board.
func (a *app) score(ctx context.Context, f scoreFlags) error {
	if err := between("--jobs", f.Jobs, 0, maxJobs); err != nil {
		return err
	}
	var board *scoreboard.Board
	for _, file := range f.out {
		if boardFormats[strings.ToLower(filepath.Ext(file))] == "" {
			return usage(fmt.Errorf("-o %s: the name must end in .html, .md or .json", file), "")
		}
	}
	if f.from != "" {
		in, err := files.Open(f.from)
		if err == nil {
			defer in.Close()
			board, err = scoreboard.Read(f.from, in)
		}
		if err != nil {
			return usage(err, "--from takes what leakbench score -o FILE.json has written")
		}
		return a.writeScore(board, f)
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	board, err := a.playScore(ctx, f)
	if board == nil {
		return err
	}
	if failed := a.writeScore(board, f); failed != nil {
		return errors.Join(err, failed)
	}
	played := func(c scoreboard.Cell) bool { return c.Run != "" && !c.Resumed }
	if err != nil {
		failed := failureAfter(err, slices.ContainsFunc(board.Cells, played))
		failed.hint = strings.ReplaceAll(failed.hint, "folder with --out", "folder with --dir")
		return failed
	}
	if board.Count("")[scoreboard.NotInstalled] == len(board.Cells) {
		return &failure{exitHost, errors.New("none of the hosts is installed"), "leakbench hosts install NAME, or all"}
	}
	return nil
}

func (a *app) playScore(ctx context.Context, f scoreFlags) (*scoreboard.Board, error) {
	s := f.Scoring
	s.Command = f.command()
	err := own(&s.Bench)
	if err != nil {
		return nil, err
	}
	if s.Hosts, err = play.Hosts(s.Self, f.hosts); err != nil {
		return nil, err
	}
	if len(s.Hosts) == 0 {
		return nil, usage(errors.New("no hosts given"), "leakbench list hosts shows them; --hosts published runs the published ones")
	}
	all, err := scenariosOf(f.scenarios)
	if err != nil {
		return nil, err
	}
	if s.Scenarios, err = play.Distinct(all); err != nil {
		return nil, err
	}
	var live *progress.Counting
	left, mode := 0, a.progressMode("auto")
	mostJobs := cmp.Or(f.Jobs, play.Jobs())
	s.OnPlan = func(play, have int) {
		left = play
		if mode != progress.None {
			fmt.Fprintf(a.err, "%s to make, at most %d at a time; %d exist already\n", text.Count(play, "run"), mostJobs, have)
		}
		live = progress.Count(a.err, mode, play)
	}
	s.OnCell = func(c scoreboard.Cell, n int) { left = n; live.Done(c.String(), n) }
	board, err := s.Play(ctx)
	live.Stop()
	if err != nil && ctx.Err() != nil {
		fmt.Fprintf(a.err, "%s left; the same command goes on from there\n", text.Count(left, "run"))
	}
	return board, err
}

// command is what makes the board again.
func (f scoreFlags) command() []string {
	words := []string{
		"leakbench", "score", "--hosts", strings.Join(f.hosts, ","), "--scenarios", strings.Join(f.scenarios, ","),
		"--jobs", fmt.Sprint(f.Jobs),
	}
	if f.Seed != 1 {
		words = append(words, "--seed", fmt.Sprint(f.Seed))
	}
	words = append(words, record.CommandLimits(f.Limits).Words()...)
	if !f.links {
		words = append(words, "--links=false")
	}
	for _, file := range f.out {
		words = append(words, "-o", file)
	}
	return words
}

// boardFormats are the reporters of a board, by how a file's name ends.
var boardFormats = map[string]string{".html": "html", ".htm": "html", ".md": "md", ".json": "json"}

// writeScore prints the board and writes its files.
func (a *app) writeScore(b *scoreboard.Board, f scoreFlags) error {
	a.printed = a.format == "json"
	printed, _ := report.Find(a.format)
	err := printed.Write(a.out, report.Subject{Board: b}, report.Options{})
	for _, file := range f.out {
		var o report.Options
		if f.links {
			o.Link = boards.LinksFrom(file)
		}
		r, _ := report.Find(boardFormats[strings.ToLower(filepath.Ext(file))])
		if failed := a.writeOutlet(outlet{Reporter: r, file: file}, report.Subject{Board: b}, o); failed != nil {
			err = errors.Join(err, usage(failed, "choose another file with -o"))
		}
	}
	return err
}
