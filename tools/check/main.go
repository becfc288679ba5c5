// Command check plays the long tier of the tests: what needs more than Go, or more than two minutes. It installs what a group needs,
// prints one line for each group, and compares the cells that were played with cells.tsv, so that none is lost between the tiers.
//
//	go run ./tools/check                             # all groups, but for those of the night
//	go run ./tools/check --list                      # what each group is, and what it needs
//	go run ./tools/check --only published,browser
//	go run ./tools/check --compare DIR [DIR ...]     # the cells that several machines have played
//
// The first tier is `go test ./...`. With LEAKBENCH_CELLS naming a folder it leaves its cells there, and check adds those of the groups;
// without, check plays the first tier as well.
// With LEAKBENCH_REQUIRE=all a group that can't be played is an error, unless its row says which machine lacks what it needs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/text"
)

// Exit codes.
const (
	exitOK    = 0
	exitRed   = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), stops...)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	list    bool
	only    string
	compare bool
	update  bool
	dirs    []string // with compare: the folders with cells
}

func run(ctx context.Context, args []string, out, errs io.Writer) int {
	var o options
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.BoolVar(&o.list, "list", false, "list the groups and what each needs")
	flags.StringVar(&o.only, "only", "", "play these `groups`, separated by commas")
	flags.BoolVar(&o.compare, "compare", false, "compare the cells in the folders that follow with the list, and play nothing")
	flags.BoolVar(&o.update, "update", false, "with --compare: add cells that are not in the list to it")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	o.dirs = flags.Args()
	code, err := o.check(ctx, out)
	if err != nil {
		fmt.Fprintln(errs, "check:", err)
	}
	return code
}

func (o options) check(ctx context.Context, out io.Writer) (int, error) {
	chosen, err := choose(groups, o.only, o.list)
	switch {
	case err != nil:
		return exitUsage, err
	case o.update && !o.compare:
		return exitUsage, errors.New("--update goes with --compare")
	case o.compare != (len(o.dirs) > 0):
		return exitUsage, errors.New("--compare takes the folders with cells; groups are named by --only")
	case o.list:
		list(out, chosen)
		return exitOK, nil
	}
	root, err := moduleRoot()
	if err != nil {
		return exitUsage, err
	}
	if o.compare {
		return compareCells(out, filepath.Join(root, cellsFile), o.dirs, nil, o.update)
	}
	return play(ctx, out, root, chosen, o.only == "")
}

// choose returns the groups that are named. Where no name is given these are all, those of the night only if that is asked for.
func choose(all []group, names string, nightly bool) ([]group, error) {
	if names == "" {
		return slices.DeleteFunc(slices.Clone(all), func(g group) bool { return g.nightly && !nightly }), nil
	}
	var chosen []group
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(g group) bool { return g.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no group %q; --list lists them", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func list(out io.Writer, chosen []group) {
	for _, g := range chosen {
		fmt.Fprintf(out, "%-10s %s\n", g.name, g.about)
		if g.nightly {
			fmt.Fprintf(out, "%-10s only where --only names it: every night in CI\n", "")
		}
		var needs []string
		for _, n := range g.needs {
			needs = append(needs, n.name)
		}
		if g.lackedBy != "" {
			needs = append(needs, "not played on "+g.lackedBy)
		}
		if len(needs) > 0 {
			fmt.Fprintf(out, "%-10s needs: %s\n", "", strings.Join(needs, ", "))
		}
	}
}

// play plays groups, one line each, and compares the cells where all of them were played.
func play(ctx context.Context, out io.Writer, root string, chosen []group, whole bool) (int, error) {
	b, err := newBench(ctx, root, out)
	if err != nil {
		return exitUsage, err
	}
	defer b.remove()
	begun := time.Now()
	if whole && !b.givenCells {
		chosen = append([]group{first}, chosen...)
	}
	results := b.playAll(ctx, chosen)
	code := exitOK
	for _, r := range results {
		if r.red(b.requireAll) {
			code = exitRed
			r.explain(out)
		}
	}
	if ctx.Err() != nil {
		return exitRed, errors.New("stopped by a signal")
	}
	if whole {
		more, err := compareCells(out, filepath.Join(root, cellsFile), []string{b.cells}, lacking(results), false)
		if err != nil {
			return exitRed, err
		}
		code = max(code, more)
	} else {
		fmt.Fprintln(out, "cells: not compared, since that takes all groups")
	}
	fmt.Fprintf(out, "%s in %v\n", text.Count(len(results), "group"), time.Since(begun).Round(time.Second))
	return code, nil
}

// lacking are the groups that this machine could not play.
func lacking(results []result) (names []string) {
	for _, r := range results {
		if r.lacks != "" {
			names = append(names, r.group.name)
		}
	}
	if os.Getuid() != 0 {
		names = append(names, rootRights)
	}
	return names
}

// moduleRoot is the folder of go.mod, at or above the current one.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for from := dir; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.mod in %s or above: run check in a clone of leakbench", from)
		}
	}
}
