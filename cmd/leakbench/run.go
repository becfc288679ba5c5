package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/doctor"
	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/scenarios"
)

// runFlags make a stage.
type runFlags struct {
	stage
	host      string
	server    string
	progress  string
	reporters []string
	choice    choice
	quick     bool
	failFast  bool
	byLevel   bool // no scenario was named: the level says which
	soak      time.Duration
}

// stage is what has to be known before anything is played.
type stage struct {
	outlets []outlet
	bench   play.Bench
	series  play.Series
	not     []gate.NotApplicable // what was asked for, and can't be asked of the host
	named   bool                 // each scenario was named
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:               "run",
		ValidArgsFunction: completion(cobra.ShellCompDirectiveDefault, scenarioNames),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.run(cmd, args, f) },
	}
	f.register(cmd)
	f.choose(cmd)
	a.verboseFlag(cmd, "print all values and the evidence on each process")
	cmd.Flags().IntVar(&f.series.Repeat, "repeat", 1, "how often to run each scenario")
	cmd.Flags().Var((*duration.Flag)(&f.soak), "for", "repeat one scenario with one host for this time (a soak); 0: once")
	cmd.Flags().BoolVar(&f.bench.Limits.Fast, "fast", false,
		"give up after 2 s what nobody has told to end: for the desk, where a full wait is too long")
	cmd.Flags().StringVar(&f.server, "server", "",
		"the server to give to a host that takes one (default: one run for each server of the scenario)")
	return cmd
}

// register adds the flags of everything that plays.
func (f *runFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	registerHost(cmd, &f.host)
	flags.Uint64Var(&f.series.Seed, "seed", 0, "seed of everything random; 0: draw one, print and record it")
	limitFlags(flags, &f.bench.Limits, "how long the host may take to start: to say hello, or to connect to its server")
	patienceFlag(flags, &f.bench.Limits)
	f.registerOutput(cmd)
	f.series.Repeat = 1
}

// registerOutput adds the flags of what everything that plays leaves and shows.
func (f *runFlags) registerOutput(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.bench.Out, "out", "o", ".leakbench", "folder to write the runs to")
	choiceFlag(cmd, flags, &f.progress, "progress", "auto", "auto, plain or none", "auto", "plain", "none")
	reporterFlag(cmd, &f.reporters, nil, "more outputs, each NAME or NAME=FILE: "+strings.Join(report.ReporterNames(), ", "))
}

// choose adds the flags of what plays several scenarios.
func (f *runFlags) choose(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.choice.laws, "law", nil, "run the scenarios that are about one of these laws, for example L1,L4")
	flags.StringSliceVar(&f.choice.tags, "tag", nil, "run the scenarios that have one of these tags")
	flags.StringSliceVar(&f.choice.levels, "level", nil, "run the scenarios of these levels: orderly (1), stubborn (2), sudden (3)")
	flags.BoolVar(&f.quick, "quick", false, "run the scenarios that take less than 2 s on a correct host; same as --tag "+scenarios.TagQuick)
	flags.BoolVar(&f.failFast, "fail-fast", false, "stop after the first run that fails")
	jobsFlag(flags, &f.series.Jobs)
	completeFlag(cmd, "law", cobra.ShellCompDirectiveNoFileComp, law.IDs)
}

func hostNames() []string { return hostfile.Names("leakbench") }

func scenarioNames() []string { return append(scenarios.Names(), "all") }

// run is the whole use of the bench on one screen: load, run, judge, report.
func (a *app) run(cmd *cobra.Command, args []string, f runFlags) error {
	names, err := a.fromProject(cmd, args, &f)
	if err != nil {
		return err
	}
	if len(names) == 0 && len(f.choice.levels) == 0 {
		f.choice.levels = []string{string(record.Orderly)}
		f.byLevel = true
	}
	s, err := a.prepare(cmd, args, f, names)
	if err != nil {
		return err
	}
	if f.failFast {
		s.series.Enough = func(r play.Result) bool {
			return r.Err != nil || r.Judged != nil && r.Judged.Verdict.Outcome == verdict.Leak
		}
	}
	var gently []func(string)
	if f.soak > 0 {
		if err := soakable(&s, f.soak); err != nil {
			return err
		}
		gently = append(gently, a.soak(&s))
	}
	ctx, stop := interruptible(cmd.Context(), gently...)
	defer stop()
	end := a.stream(&s)
	tries, not, failed := s.series.Play(ctx, s.bench.One)
	end()
	a.unplayed(s.series, tries, not)
	said := answerOf(gate.Final(tries), failed, s.outlets)
	said.NotApplicable = append(s.not, not...)
	said.failed = s.unlessPlayed(said, not)
	if s.series.Repeat > 1 && len(said.Runs) > 0 {
		said.Repeats = compare.Repeats(said.Runs)
	}
	if len(said.Runs) > 1 {
		said.suite = s.bench.Out
	}
	return a.conclude(said)
}

// unplayed says how many runs of a series were not made, since its answer was known before.
func (a *app) unplayed(s play.Series, tries []gate.Attempt, not []gate.NotApplicable) {
	all := len(s.Scenarios) * max(1, s.Repeat)
	left := all - len(not)
	for _, t := range tries {
		if t.Try == 1 {
			left--
		}
	}
	if left > 0 {
		a.note("not made: %d of %s\n", left, text.Count(all, "run"))
	}
}

// unlessPlayed is what failed, where a scenario that was named, or all of them, turned out not to be applicable.
func (s *stage) unlessPlayed(said answer, not []gate.NotApplicable) error {
	switch {
	case said.failed != nil || said.exit.Code == exitFinding:
		return said.failed
	case s.named && len(not) > 0:
		return notApplicable(not[0])
	case len(said.Runs) == 0:
		return &failure{exitInconclusive, fmt.Errorf("nothing was run: no scenario applies to %s", s.series.Host.Name), ""}
	}
	return nil
}

// notApplicable is the error of a scenario that was named.
func notApplicable(n gate.NotApplicable) error {
	return usage(fmt.Errorf("%s is not applicable to %s: %s", n.Scenario, n.Host, text.PrintableLines(n.Why)),
		"leakbench run all leaves out what does not apply")
}

// answerOf is the answer where nothing is said of the runs but what was found.
func answerOf(judged []verdict.Judged, failed error, outlets []outlet) answer {
	outcome, reason := gate.OfRuns(judged)
	return answer{
		Subject: report.Subject{Runs: judged}, exit: formats.Exit{Code: exitOf(outcome), Reason: reason}, failed: failed,
		known: play.Listed(judged...), outlets: outlets,
	}
}

// prepare makes the stage from a command line, for the scenarios of these names: all, where there is none.
func (a *app) prepare(cmd *cobra.Command, args []string, f runFlags, names []string) (s stage, err error) {
	if s, err = a.setUp(cmd, f); err != nil {
		return s, err
	}
	_, command := splitAtDash(cmd, args)
	h, err := hostOf(s.bench.Self, f.host, command)
	if err != nil {
		return s, err
	}
	if len(names) == 0 {
		names = []string{"all"}
	}
	plays, err := scenariosOf(names)
	if err != nil {
		return s, err
	}
	if f.quick {
		f.choice.tags = append(f.choice.tags, scenarios.TagQuick)
	}
	if plays, err = f.choice.of(plays); err != nil {
		return s, err
	}
	s.named = !slices.Contains(names, "all")
	if plays, err = ofServer(plays, f.server, h); err != nil {
		return s, err
	}
	s.series.Host = h
	s.series.Scenarios, s.not = play.Fit(h, plays)
	if s.named && len(s.not) > 0 {
		return s, notApplicable(s.not[0])
	}
	if f.byLevel {
		a.note("%s\n", levelNote(plays))
	}
	for _, line := range play.LeftOut(s.not) {
		a.note("%s\n", line)
	}
	return s, nil
}

// note says something beside the answer, which is not for programs.
func (a *app) note(format string, args ...any) {
	if a.format != "json" {
		a.progressed(format, args...)
	}
}

// progressed says how far something is, whatever the format of its answer.
func (a *app) progressed(format string, args ...any) { fmt.Fprintf(a.err, format, args...) }

// setUp makes of the stage what the flags say. Each run gets a report that knows the list of findings.
func (a *app) setUp(cmd *cobra.Command, f runFlags) (s stage, err error) {
	if err = cmp.Or(between("--repeat", f.series.Repeat, 1, maxRepeat), between("--jobs", f.series.Jobs, 0, maxJobs)); err != nil {
		return s, err
	}
	s = f.stage
	if s.outlets, err = a.outletsOf(cmd, f.reporters); err != nil {
		return s, err
	}
	a.mishap.out, a.mishap.begun = s.bench.Out, time.Now()
	s.bench.Page = play.Listed
	s.bench.Live = progress.Params{Out: a.err, Mode: a.progressMode(f.progress), Width: width(a.err)}
	return s, own(&s.bench)
}

// noRoom refuses a process that can't open a file, before one is opened.
func noRoom() error {
	if lack := doctor.NoRoom(); lack != nil {
		return usage(lack, lack.Do)
	}
	return nil
}

// own has this program play, if there is what that needs.
func own(b *play.Bench) error {
	ownAnyway(b)
	for _, lack := range doctor.Lacks(b.Self) {
		return usage(lack, lack.Do)
	}
	if dir, err := filepath.Abs(b.Out); err == nil && !utf8.ValidString(dir) {
		return usage(fmt.Errorf("the path of the folder for runs is not UTF-8: %q", dir), "choose another folder with --out")
	}
	return nil
}

// ownAnyway has this program play, for the doctor: it says itself what is missing.
func ownAnyway(b *play.Bench) {
	endure()
	b.Tool = thisBuild().Tool
	b.Self, _ = os.Executable() // which needs /proc on Linux
}

// maxStacks is how much of the stacks is kept, in bytes.
const maxStacks = 1 << 20

// stacks is what all goroutines do, as the end by SIGQUIT would print it.
func stacks() string {
	text := make([]byte, maxStacks)
	return string(text[:runtime.Stack(text, true)])
}

func splitAtDash(cmd *cobra.Command, args []string) (names, command []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

func (a *app) replayCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:  "replay",
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args, f) },
	}
	f.register(cmd)
	jobsFlag(cmd.Flags(), &f.series.Jobs)
	return cmd
}

func (a *app) replay(cmd *cobra.Command, args []string, f runFlags) error {
	s, err := a.setUp(cmd, f)
	if err != nil {
		return err
	}
	paths, command := splitAtDash(cmd, args)
	if command != nil && f.host != "" {
		return errTwoHosts
	}
	old, err := judgeAll("replay", paths)
	if err != nil {
		return err
	}
	for i := range old {
		cell, err := play.Replay(s.bench.Self, old[i].Run, s.series.Seed, s.bench.Limits, f.host, command)
		if err != nil {
			return err
		}
		s.series.Cells = append(s.series.Cells, cell)
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	end := a.stream(&s)
	tries, not, failed := s.series.Play(ctx, s.bench.One)
	end()
	if len(not) > 0 && failed == nil {
		failed = notApplicable(not[0])
	}
	var now []verdict.Judged
	var replays []baseline.Replayed
	for _, t := range tries { // of each cell there is one at most
		now, replays = append(now, t.Judged), append(replays, baseline.Replay(old[t.Repeat-1], t.Judged))
	}
	said := answerOf(now, failed, s.outlets)
	said.Replays = replays
	if len(now) > 1 {
		said.suite = s.bench.Out
	}
	return a.conclude(said)
}

// interruptible is a context that the usual signals end, once: a second one ends the bench on the spot, and the keeper cleans up.
// Before that, each function of gently takes one signal.
func interruptible(ctx context.Context, gently ...func(signal string)) (context.Context, func()) {
	// What was below a keeper that is killed comes home to the bench, which can
	// end it then. Where that can't be had, the header of a run says so.
	_ = proc.Adopt()
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2+len(gently))
	signal.Notify(signals, stops...)
	go func() {
		defer bug.Ends()
		for _, tell := range gently {
			sig, ok := <-signals
			if !ok {
				return
			}
			number, _ := sig.(syscall.Signal)
			tell(proc.SignalName(number))
		}
		sig, ok := <-signals
		if !ok {
			return
		}
		number, _ := sig.(syscall.Signal)
		stop := observe.Interrupted{Signal: proc.SignalName(number)}
		if number == syscall.SIGQUIT {
			stop.Stacks = stacks()
		}
		cancel(stop)
		if sig, ok = <-signals; ok {
			number, _ = sig.(syscall.Signal)
			os.Exit(exitSignal + int(number))
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel(nil) }
}
