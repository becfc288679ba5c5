package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/play/bisect"
	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/play/shelf"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/install"
)

type bisectFlags struct {
	runFlags
	good, bad string
	law       string
}

func (a *app) bisectCommand() *cobra.Command {
	var f bisectFlags
	cmd := &cobra.Command{
		Use:               "bisect",
		ValidArgsFunction: completion(cobra.ShellCompDirectiveDefault, scenarioNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.bisect(cmd, args, f) },
	}
	f.register(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.good, "good", "", "a version without the finding")
	flags.StringVar(&f.bad, "bad", "", "a version with the finding")
	flags.StringVar(&f.law, "law", "", "look for breaches of this law alone, for example L2")
	completeFlag(cmd, "law", cobra.ShellCompDirectiveNoFileComp, law.IDs)
	return cmd
}

func (a *app) bisect(cmd *cobra.Command, args []string, f bisectFlags) error {
	switch {
	case len(args) != 1:
		return usage(fmt.Errorf("bisect takes one scenario, not %d", len(args)),
			"for example: leakbench bisect shutdown --host hermes --good 0.13.0 --bad 0.19.0")
	case f.good == "" || f.bad == "":
		return usage(errors.New("--good and --bad are both needed"), "leakbench list hosts shows the pinned version of each preset")
	case f.law != "" && !slices.Contains(law.IDs(), f.law):
		return usage(fmt.Errorf("--law %s: no such law", f.law), "leakbench list laws shows them")
	case f.host == "":
		return usage(errors.New("--host is missing: a preset whose package has versions"), "these are "+strings.Join(shelf.Names(), ", "))
	case !slices.Contains(shelf.Names(), f.host):
		return usage(fmt.Errorf("--host %s: not a preset whose package has versions", f.host), "these are "+strings.Join(shelf.Names(), ", "))
	}
	s, err := a.setUp(cmd, f.runFlags)
	if err != nil {
		return err
	}
	plays, err := scenariosOf(args)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	versions, err := publishedBetween(ctx, f)
	if err != nil {
		return err
	}
	p := bisect.Player{
		Play: s.bench.One, Scenario: plays[0], Host: f.host, Law: f.law,
		Install: func(p install.Params) error {
			live := progress.Wait(a.err, a.progressMode("auto"), "installing "+f.host+"@"+p.Version)
			defer live.Stop()
			p.Line = live.Line
			_, err := install.Install(ctx, p)
			return err
		},
		Tell: func(t bisect.Try) {
			a.progressed("%s@%s: %s\n", f.host, t.Version, strings.Join(append([]string{string(t.Outcome)}, t.Shows...), ", "))
		},
	}
	found, err := bisect.Search(versions, func(version string) (bisect.Try, error) { return p.Try(ctx, version) })
	if not := (*bisect.Unplayable)(nil); errors.As(err, &not) {
		return notApplicable(not.NotApplicable)
	}
	return a.bisected(found, err, len(versions))
}

// publishedBetween are the versions to search.
func publishedBetween(ctx context.Context, f bisectFlags) ([]string, error) {
	spec, err := hostfile.Preset(f.host, "")
	if err != nil {
		return nil, usage(err, "leakbench list hosts shows them")
	}
	all, err := install.Versions(ctx, spec.Install.Runtime, spec.Install.Package)
	switch {
	case errors.Is(err, install.ErrUnlisted):
		return nil, usage(fmt.Errorf("--host %s: %w", f.host, err), "leakbench can list those of python and node packages")
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &failure{exitHost, err, "check the network, and the package manager's configuration"}
	}
	between, err := bisect.Between(all, f.good, f.bad)
	if errors.Is(err, bisect.ErrSame) {
		err = fmt.Errorf("--good and --bad are both %s", f.good)
	}
	return between, usage(err, "the registry has "+strings.Join(all[max(0, len(all)-12):], ", "))
}

// bisected says what was found.
func (a *app) bisected(found bisect.Result, err error, of int) error {
	if errors.Is(err, bisect.ErrEnds) {
		return &failure{exitInconclusive, err, "run both ends with leakbench run, or name other versions"}
	}
	if err != nil {
		return err
	}
	if a.format == "json" {
		if err := a.object(found, pretty); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.out, "first bad: %s; last good: %s (%d of %d versions run)\n", found.FirstBad, found.LastGood, len(found.Tries), of)
	}
	if len(found.Skipped) > 0 {
		return &failure{
			exitInconclusive, fmt.Errorf("skipped in between: %s", strings.Join(found.Skipped, ", ")),
			"any of them may be the first bad one, too",
		}
	}
	return nil
}
