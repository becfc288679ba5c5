package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/blob"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/report/formats"
)

// compareFlags say what counts as a change.
type compareFlags struct {
	tolerance string
	alpha     float64
	measures  string
	verbose   bool
}

func (f *compareFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tolerance, "tolerance", "25%", "a time or a size that changes by less is the same")
	flags.Float64Var(&f.alpha, "alpha", 0.05, "the chance, over all tests together, to call something changed that is not")
	choiceFlag(cmd, flags, &f.measures, "measures", "fail", "what a time or a size that has grown means: fail, warn or off", "fail", "warn", "off")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "all rows, those without a change too")
}

func (f *compareFlags) params() (compare.Params, error) {
	if err := oneOf("--measures", f.measures, "fail", "warn", "off"); err != nil {
		return compare.Params{}, err
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(f.tolerance), "%")
	tolerance, err := strconv.ParseFloat(number, 64)
	if percent {
		tolerance /= 100
	}
	if err != nil || !(tolerance > 0 && tolerance < 100) {
		return compare.Params{}, usage(fmt.Errorf("--tolerance %q: must be a percentage above 0", f.tolerance), "for example: --tolerance 25%")
	}
	if !(f.alpha > 0 && f.alpha < 1) {
		return compare.Params{}, usage(fmt.Errorf("--alpha %v: must be between 0 and 1", f.alpha), "for example: --alpha 0.05")
	}
	return compare.Params{Alpha: f.alpha, Tolerance: tolerance}, nil
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Hold two sets of runs against each other",
		Long: `Hold two sets of runs against each other: findings that are new, known or fixed,
counts that differ, times and sizes that have changed by more than chance and
the tolerance allow. BASE and HEAD are each a run, a folder of runs, or a blob
(leakbench gate --blob). Times and sizes need at least 6 runs on each side.

` + exitTable,
		Example: `  leakbench compare before/ after/
  leakbench run storm --repeat 6 --out before`,
		RunE: func(_ *cobra.Command, args []string) error { return a.compare(args, f) },
	}
	f.register(cmd)
	return cmd
}

func (a *app) compare(args []string, f compareFlags) error {
	p, err := f.params()
	if err != nil {
		return err
	}
	if len(args) != 2 {
		return usage(fmt.Errorf("compare takes 2 arguments, not %d", len(args)), "for example: leakbench compare before/ after/")
	}
	base, err := loadRuns(args[0])
	if err != nil {
		return err
	}
	head, err := loadRuns(args[1])
	if err != nil {
		return err
	}
	r := compare.Runs(base, head, p)
	if f.measures == string(gate.MeasuresOff) {
		r.Measures, r.Tests = nil, 0
	}
	outcome, reason := gate.OfComparison(&r, head, gate.Measures(f.measures))
	return a.conclude(answer{
		Subject: report.Subject{Runs: head, More: formats.More{Compare: &r}}, exit: formats.Exit{Code: exitOf(outcome), Reason: reason}, verbose: f.verbose,
	})
}

// loadRuns reads the runs that count from whatever holds runs.
func loadRuns(path string) ([]verdict.Judged, error) {
	parts, err := loadParts(path)
	if err != nil {
		return nil, err
	}
	return blob.Runs(parts), nil
}

func loadParts(paths ...string) ([]gate.Part, error) {
	var parts []gate.Part
	var failed error
	for _, path := range paths {
		more, err := blob.Load(path)
		failed = errors.Join(failed, err)
		parts = append(parts, more...)
	}
	if failed != nil {
		return nil, usage(failed, "runs are the folders that leakbench run makes in .leakbench, and the file of leakbench gate --blob")
	}
	return parts, nil
}
