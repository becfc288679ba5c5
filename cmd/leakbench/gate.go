package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/blob"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/internal/subject/host"
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

func (f *decideFlags) register(cmd *cobra.Command) {
	f.compareFlags.register(cmd)
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "earlier runs, a folder or a blob: what they have found is not new")
	cmd.Flags().StringVar(&f.known, "known", known.File, "the list of known findings")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "a finding that nobody has listed fails, whether the baseline has it or not")
}

type gateFlags struct {
	runFlags
	decideFlags
	retries int
	shard   string
	costs   string
	blob    string
}

const gateLong = `Play scenarios, hold what they show against the list of known findings and a
baseline, and answer with one exit code. Without a scenario it is all that
the host can be played: a command that can't be asked for anything, a few.

A finding passes where the list has it (` + known.File + `) or the baseline; with
--strict, the list alone. An entry of the list that is not found any more fails,
and so does one whose day is over. What could not be decided is no pass:
--retries plays it again, and says so.

Several machines share the work with --shard 1/4 ... 4/4, each with --blob, and
leakbench merge makes one answer of the blobs. In a Kubernetes Indexed Job,
--shard job/4 takes the index from ` + gate.JobIndex + `.

` + exitTable

func (a *app) gateCommand() *cobra.Command {
	var f gateFlags
	cmd := &cobra.Command{
		Use:   "gate [SCENARIO|FILE.yaml ...] [flags] [-- COMMAND ARGS...]",
		Short: "Decide whether a change may go in: run, compare, one exit code",
		Long:  gateLong,
		Example: `  leakbench gate -- my-gateway --mcp '{{server}}'
  leakbench gate storm cron --host mcp-go --baseline main.zip --retries 1
  leakbench gate --shard 2/4 --blob blobs/2.zip -- my-gateway --mcp '{{server}}'`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(scenarios.Names(), "all"), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.gate(cmd, args, f) },
	}
	f.runFlags.register(cmd)
	f.decideFlags.register(cmd)
	flags := cmd.Flags()
	flags.IntVar(&f.repeat, "repeat", 1, "how often to play each scenario; times and sizes are compared from 6 on")
	flags.IntVar(&f.retries, "retries", 0, "how often a run that could not be decided is played again")
	flags.StringVar(&f.shard, "shard", "", "play only this part of the scenarios: 1/4, or job/4")
	flags.StringVar(&f.costs, "costs", "", "earlier runs that say how long each scenario takes, for --shard (default: the baseline)")
	flags.StringVar(&f.blob, "blob", "", "file to pack all runs into: for merge, and as a baseline")
	return cmd
}

// gate is the whole command on one screen.
func (a *app) gate(cmd *cobra.Command, args []string, f gateFlags) error {
	if f.retries < 0 || f.retries > 10 {
		return usage(fmt.Errorf("--retries %d: must be 0 to 10", f.retries), "")
	}
	d, err := f.decider()
	if err != nil {
		return err
	}
	s, err := a.set(cmd, args, f.runFlags, a.allFor)
	if err != nil {
		return err
	}
	if s.plays, err = distinct(s.plays); err != nil {
		return err
	}
	part, mine, err := f.part(s, d.Base)
	if err != nil {
		return err
	}
	d.Names = named(d.Names, part)
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	err = a.playEach(ctx, s, mine, f.runFlags, f.retries, func(tries []gate.Attempt) { part.Runs = append(part.Runs, tries...) })
	d.Attempts, d.Idle = part.Runs, len(mine) == 0 && len(part.Plan) > 0 // a shard more than there are plays
	if len(part.Runs) > 0 {                                              // for leakbench known, which takes the newest gate
		_ = blob.Write(filepath.Join(f.out, lastGate), part)
	}
	if f.blob != "" {
		if packed := blob.Write(f.blob, part); packed != nil {
			err = errors.Join(err, usage(packed, "choose another file with --blob"))
		}
	}
	return a.answer(d, err, s.outlets, f.decideFlags)
}

// named adds the scenarios of a plan, some of which another shard has.
func named(names []string, parts ...gate.Part) []string {
	for i := range parts {
		for _, item := range parts[i].Plan {
			names = append(names, item.Scenario)
		}
	}
	return names
}

// lastGate is where a gate keeps its runs in the folder of the runs. The name
// keeps it from being read as one of them.
const lastGate = ".last-gate.zip"

// allFor are the scenarios that can be decided with a host.
func (a *app) allFor(spec host.Spec) []string {
	if spec.Kind != record.KindCommand {
		return []string{"all"}
	}
	if a.format != "json" {
		fmt.Fprintf(a.err, "a command is played %d of the %d scenarios; a driver is played all (docs/driver-protocol.md)\n",
			len(scenarios.ForCommands()), len(scenarios.Names()))
	}
	return scenarios.ForCommands()
}

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
	p.Names = scenarios.Names()
	p.Failed = func(j *verdict.Judged) bool { return hostFailed(*j) }
	if f.baseline != "" {
		p.HasBase = true
		if p.Base, err = loadRuns(f.baseline); err != nil {
			return p, err
		}
	}
	return p, nil
}

// part is what all shards are to do, and mine what this one does of it.
func (f *gateFlags) part(s stage, base []verdict.Judged) (part gate.Part, mine []*scenarios.Scenario, err error) {
	shard, err := gate.ParseShard(f.shard, os.Getenv)
	if err != nil {
		return part, nil, usage(err, "")
	}
	part = gate.Part{Shard: shard, Host: s.spec.Name, Repeat: f.repeat}
	for _, p := range s.plays {
		part.Plan = append(part.Plan, gate.Item{Scenario: p.Name})
	}
	if shard.Count == 0 {
		return part, s.plays, nil
	}
	earlier := base
	if f.costs != "" {
		if earlier, err = loadRuns(f.costs); err != nil {
			return part, nil, err
		}
	}
	var costed []gate.Costed
	for _, p := range s.plays {
		costed = append(costed, gate.Costed{Name: p.Name, Cost: costOf(p, earlier)})
	}
	shards, mark := gate.Split(costed, shard.Count)
	part.Mark = mark
	for _, p := range s.plays {
		if slices.Contains(shards[shard.Index-1], p.Name) {
			mine = append(mine, p)
		}
	}
	return part, mine, nil
}

// costOf is what playing a scenario takes: what it took, or a guess by its
// steps.
func costOf(p *scenarios.Scenario, earlier []verdict.Judged) time.Duration {
	if cost, err := gate.CostOf(p.Name, earlier); err == nil {
		return cost
	}
	return time.Second + time.Duration(len(p.Expand()))*20*time.Millisecond
}

var exitOfGate = map[gate.Outcome]int{
	gate.Pass: exitClean, gate.Fail: exitFinding, gate.HostFailed: exitHost, gate.Inconclusive: exitInconclusive,
}

// answer decides, prints, and turns it all into the exit code. A host that
// could not be tested is part of the answer; any other failure stands above it.
func (a *app) answer(p gate.Params, failed error, outlets []outlet, f decideFlags) error {
	var f1 *failure
	if failed != nil {
		if f1 = failureOf(failed); errors.Is(failed, runner.ErrHost) && f1.code == exitHost && len(p.Attempts) > 0 {
			f1 = nil
		} else {
			p.Missing = append(p.Missing, "the rest: "+f1.Error())
		}
	}
	r := gate.Decide(p)
	code, reason := exitOfGate[r.Outcome], r.Reason
	if f1 != nil {
		code, reason = f1.code, f1.Error()
	}
	o := baseline.GateOptions{Text: a.textOptions(), Known: f.known, Exit: code}
	o.Text.Verbose = f.verbose
	held := baseline.Baseline{Result: &r, Base: p.Base, List: f.known, Answer: true}
	if err := a.printGate(&r, o, report.Options{Exit: formats.Exit{Code: code, Reason: reason}, Against: held}, outlets); err != nil {
		return errors.Join(failed, err)
	}
	return ending(f1, code)
}

func (a *app) printGate(r *gate.Result, o baseline.GateOptions, all report.Options, outlets []outlet) error {
	plain := o
	plain.Text.Color = false
	asJSON := func(w io.Writer) error { return formats.JSONWith(w, r.Runs, all.Exit, formats.More{Gate: r}) }
	render := map[string]func(io.Writer) error{
		"text":   func(w io.Writer) error { return baseline.Gate(w, r, plain) },
		"md":     func(w io.Writer) error { return formats.GateMarkdown(w, r, plain) },
		"github": func(w io.Writer) error { return formats.GateGitHub(w, r, plain) },
		"json":   asJSON,
	}
	for i := range outlets {
		outlets[i].render = render[outlets[i].Name]
	}
	var err error
	switch {
	case a.format == "json":
		a.printed = true
		err = asJSON(a.out)
	case !prints(outlets):
		err = baseline.Gate(a.out, r, o)
	}
	if failed := errors.Join(repage(r, all.Against), a.writeOutlets(outlets, r.Runs, all)); failed != nil {
		return errors.Join(err, usage(failed, "choose another file"))
	}
	return err
}

func (a *app) mergeCommand() *cobra.Command {
	var f decideFlags
	var reporters []string
	cmd := &cobra.Command{
		Use:   "merge DIR|BLOB...",
		Short: "Make one report and one exit code of the blobs of several machines",
		Long: `Make one report and one exit code of what several machines have run: the blobs
of leakbench gate --shard N/M --blob FILE. A shard or a run that is missing is
no pass. The answer is that of one machine that had run it all.

` + exitTable,
		Example: `  leakbench merge blobs/ --reporter html=leakbench-report.html,junit=junit.xml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("merge what?"), "a folder of blobs: leakbench merge blobs/")
			}
			outlets, err := a.runOutlets(cmd, reporters)
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
			d.Names = named(d.Names, parts...)
			d.Attempts, d.Missing = gate.Merge(parts)
			return a.answer(d, nil, outlets, f)
		},
	}
	f.register(cmd)
	reporterFlag(cmd, &reporters, nil, "outputs, each NAME or NAME=FILE")
	return cmd
}
