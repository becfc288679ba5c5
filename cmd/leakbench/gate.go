package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/scenarios"
)

// decideFlags are those of everything that decides: gate and merge.
type decideFlags struct {
	compareFlags
	baseline string
	known    string
	strict   bool
}

func (f *decideFlags) register(a *app, cmd *cobra.Command) {
	f.compareFlags.register(a, cmd)
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "earlier runs, a folder or a blob; their findings are not new")
	cmd.Flags().StringVar(&f.known, "known", known.File, "the list of known findings")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "fail on every finding that is not listed, even if the baseline has it")
}

type gateFlags struct {
	runFlags
	decideFlags
	shard  string
	costs  string
	blob   string
	corpus string
}

func (a *app) gateCommand() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:               "gate",
		ValidArgsFunction: completion(cobra.ShellCompDirectiveDefault, scenarioNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.gate(cmd, args, f) },
	}
	f.runFlags.register(cmd)
	f.choose(cmd)
	f.decideFlags.register(a, cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.series.Repeat, "repeat", 1, "how often to run each scenario; times and sizes are compared from 6 on")
	flags.IntVar(&f.series.Retries, "retries", 0, "how often to run an inconclusive scenario again")
	flags.StringVar(&f.shard, "shard", "", "run only this part of the scenarios: 1/4, or job/4")
	flags.StringVar(&f.costs, "costs", "", "earlier runs that tell --shard how long each scenario takes (default: the baseline)")
	flags.StringVar(&f.corpus, "corpus", "", "run the scenarios that leakbench explore has kept in this folder, and those that are named")
	flags.StringVar(&f.blob, "blob", "", "file to pack all runs into, for merge and as a baseline")
	return cmd
}

// gate is the whole command on one screen.
func (a *app) gate(cmd *cobra.Command, args []string, f gateFlags) error {
	if err := cmp.Or(between("--retries", f.series.Retries, 0, 10), writable("--blob", f.blob)); err != nil {
		return err
	}
	d, err := f.decider()
	if err != nil {
		return err
	}
	names, err := a.fromProject(cmd, args, &f.runFlags)
	if err != nil {
		return err
	}
	if f.corpus != "" {
		kept, err := keptIn(f.corpus)
		if err != nil {
			return err
		}
		names = append(names, kept...)
	}
	s, err := a.prepare(cmd, args, f.runFlags, names)
	if err != nil {
		return err
	}
	part, err := f.part(&s.series, d.Base)
	if err != nil {
		return err
	}
	part.NotApplicable = s.not
	d.Names = append(d.Names, gate.Planned(part)...)
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	var not []gate.NotApplicable
	if f.failFast {
		s.series.Enough = func(r play.Result) bool { return r.Judged != nil && fails(d, *r.Judged) }
	}
	end := a.stream(&s)
	part.Runs, not, err = s.series.Play(ctx, s.bench.One)
	end()
	a.unplayed(s.series, part.Runs, not)
	part.NotApplicable = append(part.NotApplicable, not...)
	d.NotApplicable = part.NotApplicable
	d.Attempts, d.Idle = part.Runs, len(s.series.Scenarios) == 0 && len(part.Plan) > 0 // a shard more than there are plays
	if len(part.Runs) > 0 {                                                            // for leakbench known, which takes the newest gate
		_ = gate.KeepBlob(filepath.Join(s.bench.Out, lastGate), part)
	}
	if f.blob != "" {
		err = errors.Join(err, usage(gate.WriteBlob(f.blob, part), "choose another file with --blob"))
	}
	return a.decide(d, err, s.outlets, f.decideFlags, s.bench.Out)
}

// keptIn are the scenarios of a corpus: none is an error.
func keptIn(dir string) ([]string, error) {
	kept, err := explore.Kept(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, usage(fmt.Errorf("--corpus %s: not a folder", dir), "leakbench explore --corpus DIR makes one")
	}
	if len(kept) == 0 {
		return nil, usage(fmt.Errorf("--corpus %s: no scenario in this folder", dir), "leakbench explore --corpus "+dir+" fills it")
	}
	return kept, nil
}

// part is what all shards are to do; the series is left with what this one does of it.
func (f *gateFlags) part(s *play.Series, earlier []verdict.Judged) (part gate.Part, err error) {
	if s.Scenarios, err = play.Distinct(s.Scenarios); err != nil {
		return part, err
	}
	shard, err := gate.ParseShard(f.shard, os.Getenv)
	if err != nil {
		return part, usage(err, "")
	}
	if f.costs != "" {
		if earlier, err = loadRuns(f.costs); err != nil {
			return part, err
		}
	}
	part, s.Scenarios = play.Share(shard, s.Host.Name, s.Repeat, s.Scenarios, earlier)
	return part, nil
}

// lastGate is where a gate keeps its runs in the folder of the runs. The name keeps it from being read as one of them.
const lastGate = ".last-gate.zip"

// decider reads the list and the baseline before anything runs.
func (f *decideFlags) decider() (p gate.Params, err error) {
	if p.Compare, err = f.params(); err != nil {
		return p, err
	}
	list, err := loadKnown(f.known, f.known != known.File)
	if err != nil {
		return p, err
	}
	p.Known, p.Strict, p.Now, p.Measures = list, f.strict, time.Now(), gate.Measures(f.measures)
	p.Names = append(scenarios.Names(), server.CheckScenarios()...)
	if f.baseline != "" {
		p.HasBase = true
		if p.Base, err = loadRuns(f.baseline); err != nil {
			return p, err
		}
	}
	return p, nil
}

// decide decides, prints, and turns it all into the exit code. A host that could
// not be tested is part of the answer; any other failure stands above it. The page of all runs is written into the folder suite, if any.
func (a *app) decide(p gate.Params, failed error, outlets []outlet, f decideFlags, suite string) error {
	if errors.Is(failed, observe.ErrHost) && failureOf(failed).code == exitHost && len(p.Attempts) > 0 {
		failed = nil
	}
	if failed != nil {
		p.Missing = append(p.Missing, "the rest: "+failureOf(failed).Error())
	}
	r := gate.Decide(p)
	said := answer{
		Subject: report.Subject{Runs: r.Runs, More: formats.More{Gate: &r}},
		exit:    formats.Exit{Code: exitOf(r.Outcome), Reason: r.Reason}, failed: failed,
		known: baseline.Baseline{Result: &r, Base: p.Base, List: f.known, Answer: true}, outlets: outlets, suite: suite,
	}
	return a.conclude(said)
}

// fails says that a gate that sees this run alone fails for a finding of it, whatever else it waits for.
func fails(d gate.Params, j verdict.Judged) bool {
	d.Attempts = gate.Fresh([]verdict.Judged{j})
	return slices.ContainsFunc(gate.Decide(d).Findings, func(f gate.Finding) bool { return f.Decision.Fails() && f.IsError() })
}

func (a *app) mergeCommand() *cobra.Command {
	var f decideFlags
	var reporters []string
	cmd := &cobra.Command{
		Use: "merge",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no runs given"), "a folder of blobs: leakbench merge blobs/")
			}
			outlets, err := a.outletsOf(cmd, reporters)
			if err != nil {
				return err
			}
			d, err := f.decider()
			if err != nil {
				return err
			}
			parts, err := loadParts(args...)
			if err != nil {
				return err
			}
			d.Names = append(d.Names, gate.Planned(parts...)...)
			d.Attempts, d.NotApplicable, d.Missing = gate.Merge(parts)

			return a.decide(d, nil, outlets, f, "")
		},
	}
	f.register(a, cmd)
	reporterFlag(cmd, &reporters, nil, "outputs, each NAME or NAME=FILE")
	return cmd
}

// compareFlags say what counts as a change.
type compareFlags struct {
	tolerance string
	alpha     float64
	measures  string
}

func (f *compareFlags) register(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.tolerance, "tolerance", "25%", "ignore changes of a time or a size below this")
	flags.Float64Var(&f.alpha, "alpha", 0.05, "family-wise false-positive rate of the comparison of times and sizes")
	choiceFlag(cmd, flags, &f.measures, "measures", "fail",
		"what to do when a time or a size has grown: fail, warn or off", "fail", "warn", "off")
	a.verboseFlag(cmd, "print all rows, also those without a change")
}

func (f *compareFlags) params() (compare.Params, error) {
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
		Use:  "compare",
		RunE: func(_ *cobra.Command, args []string) error { return a.compare(args, f) },
	}
	f.register(a, cmd)
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
		Subject: report.Subject{Runs: head, More: formats.More{Compare: &r}}, exit: formats.Exit{Code: exitOf(outcome), Reason: reason},
	})
}

// loadRuns reads the runs that count from whatever holds runs.
func loadRuns(path string) ([]verdict.Judged, error) {
	parts, err := loadParts(path)
	return gate.RunsOf(parts), err
}

func loadParts(paths ...string) ([]gate.Part, error) {
	parts, err := gate.LoadAllBlobs(paths...)
	return parts, usage(err, "runs are the folders that leakbench run makes in .leakbench, and the file of leakbench gate --blob")
}
