package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
	"github.com/leakbench/leakbench/internal/stage/progress"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/report"
	"github.com/leakbench/leakbench/scenarios"
)

// defaultHost is clean everywhere, so that the first run of a new user is
// green.
const defaultHost = "exact"

// maxRepeat bounds what a typing error costs.
const maxRepeat = 1000

type runFlags struct {
	host            string
	out             string
	seed            uint64
	settle, confirm time.Duration
	start           time.Duration
	progress        string
	reporters       []string
	repeat          int
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [SCENARIO|FILE.yaml|all ...] [flags] [-- COMMAND ARGS...]",
		Short: "Play scenarios against a host, save what happened, judge it and report",
		Long: `Play scenarios against a host, save what happened, judge it and report.

A host is one of the built-in ones (--host; see leakbench list hosts), a host
file (--host FILE.yaml; leakbench init writes one), the path of a driver program,
or any command after --, in which {{server}} becomes the command line of the
fake server.

` + exitTable,
		Example: `  leakbench run storm
  leakbench run storm cron --host naive
  leakbench run ./mine.yaml --host mcp-go
  leakbench run all --reporter junit=junit.xml,md=summary.md
  leakbench run storm --host my-gateway.yaml
  leakbench run shutdown -- my-gateway --stdio '{{server}}'`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append(scenarios.Names(), "all"), cobra.ShellCompDirectiveDefault
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.run(cmd, args, f) },
	}
	f.register(cmd)
	a.verboseFlag(cmd)
	cmd.Flags().IntVar(&f.repeat, "repeat", 1, "how often to play each scenario; says how often it leaked")
	return cmd
}

// register adds the flags of everything that plays.
func (f *runFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.host, "host", "", "built-in host, host file (.yaml), or the path of a driver program (default "+defaultHost+")")
	flags.StringVarP(&f.out, "out", "o", ".leakbench", "folder for the runs")
	flags.Uint64Var(&f.seed, "seed", 0, "seed of everything random; 0 draws one, which is printed and saved")
	spanVar(flags, &f.settle, "settle", "how long a server may take to go; 0 is what the host's profile or the scenario says")
	spanVar(flags, &f.confirm, "confirm", "how long a survivor is watched after that; 0 likewise")
	spanVar(flags, &f.start, "start", "how long the host may take to come up: to say hello, or to connect to its server (default 15s)")
	flags.StringVar(&f.progress, "progress", "auto", "auto, plain or none")
	fixedChoice(cmd, "progress", "auto", "plain", "none")
	reporterFlag(cmd, &f.reporters, nil, "more outputs, each NAME or NAME=FILE: "+strings.Join(report.ReporterNames(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("host", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return hostNames(), cobra.ShellCompDirectiveDefault
	})
}

func hostNames() []string {
	return hostfile.Names("leakbench")
}

// run is the whole use of the bench on one screen: load, run, judge, report.
func (a *app) run(cmd *cobra.Command, args []string, f runFlags) error {
	s, err := a.set(cmd, args, f, nil)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	var judged []verdict.Judged
	failed := a.playEach(ctx, s, s.plays, f, 0, func(tries []gate.Attempt) { judged = append(judged, gate.Final(tries)...) })
	if len(s.plays) == 0 {
		failed = &failure{code: exitInconclusive, err: fmt.Errorf("nothing was played: nothing of it is applicable to %s", s.spec.Name)}
	}
	if f.repeat > 1 && len(judged) > 0 {
		return a.concludeRepeats(judged, failed, s.outlets)
	}
	return a.conclude(judged, failed, s.outlets)
}

// stage is what has to be known before anything is played: where the outputs
// go, which host, and the scenarios that can be played with it.
type stage struct {
	outlets []outlet
	self    string // the program, which is executed again
	spec    host.Spec
	plays   []*scenarios.Scenario
}

// set makes the stage from a command line. Where that names no scenario, all
// says which they are; nil is an error.
func (a *app) set(cmd *cobra.Command, args []string, f runFlags, all func(host.Spec) []string) (s stage, err error) {
	if err := f.check(); err != nil {
		return s, err
	}
	if s.outlets, err = a.runOutlets(cmd, f.reporters); err != nil {
		return s, err
	}
	if s.self, err = os.Executable(); err != nil {
		return s, err
	}
	names, command := splitAtDash(cmd, args)
	if s.spec, err = theHost(s.self, f.host, command); err != nil {
		return s, err
	}
	if len(names) == 0 && all != nil {
		names = all(s.spec)
	}
	plays, err := load(names)
	if err != nil {
		return s, err
	}
	s.plays = a.applicable(plays, s.spec)
	return s, nil
}

// applicable leaves out what a host's file says can't be played with it, and
// says so.
func (a *app) applicable(plays []*scenarios.Scenario, spec host.Spec) []*scenarios.Scenario {
	return slices.DeleteFunc(plays, func(p *scenarios.Scenario) bool {
		why := spec.Scenarios[p.Name].NotApplicable
		if why != "" {
			fmt.Fprintf(a.err, "%s is not applicable to %s: %s\n", p.Name, spec.Name, printable(why))
		}
		return why != ""
	})
}

func (f *runFlags) check() error {
	if f.repeat < 1 || f.repeat > maxRepeat {
		return usage(fmt.Errorf("--repeat %d: must be 1 to %d", f.repeat, maxRepeat), "")
	}
	return oneOf("--progress", f.progress, "auto", "plain", "none")
}

// runOutlets are the outputs of a run: those asked for, or those of the CI it
// runs on. --format json has standard output for itself.
func (a *app) runOutlets(cmd *cobra.Command, reporters []string) ([]outlet, error) {
	if !cmd.Flags().Changed("reporter") {
		if a.format == "json" {
			return nil, nil
		}
		return ofCI(), nil
	}
	outlets, err := parseOutlets(reporters)
	if err == nil && a.format == "json" && slices.ContainsFunc(outlets, func(o outlet) bool { return o.file == "" }) {
		return nil, usage(errors.New("--format json has standard output for itself"), "give each reporter a file: --reporter NAME=FILE")
	}
	return outlets, err
}

func splitAtDash(cmd *cobra.Command, args []string) (names, command []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

func theHost(self, name string, command []string) (host.Spec, error) {
	switch {
	case command != nil && name != "":
		return host.Spec{}, usage(errors.New("--host and a command after -- exclude each other"), "leave one of them out")
	case command != nil:
		spec, err := host.FromCommand(command)
		if err != nil {
			return spec, usage(err, "for example: leakbench run storm -- my-gateway --mcp '{{server}}'")
		}
		return spec, nil
	case name == "":
		name = defaultHost
	}
	spec, err := lookUp(self, name)
	if err != nil {
		return spec, err
	}
	return spec, spec.Check()
}

func lookUp(self, name string) (host.Spec, error) {
	spec, err := hostfile.Lookup(self, name)
	var problems yamlfile.Errors
	switch {
	case errors.As(err, &problems):
		return spec, usage(err, "docs/host-file.md has the format of a host file")
	case err != nil:
		return spec, usage(err, "leakbench list hosts shows them")
	}
	return spec, nil
}

func load(names []string) ([]*scenarios.Scenario, error) {
	if len(names) == 0 {
		return nil, usage(errors.New("which scenario?"), "leakbench list scenarios shows them; the first to try: leakbench run storm")
	}
	if slices.Contains(names, "all") {
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "all" || slices.Contains(scenarios.Names(), n) })
		names = append(scenarios.Names(), others...)
	}
	var plays []*scenarios.Scenario
	var failed error
	for _, name := range names {
		get := scenarios.Builtin
		if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || strings.ContainsRune(name, filepath.Separator) {
			get = scenarios.Load
		}
		s, err := get(name)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		plays = append(plays, s)
	}
	if failed != nil {
		return nil, usage(failed, "leakbench list scenarios shows the built-in ones; docs/scenario-file.md has the format of a file")
	}
	return plays, nil
}

// interruptible is a context that the usual signals end, once: a second one
// ends the bench on the spot, and the keeper cleans up.
func interruptible(ctx context.Context) (context.Context, func()) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		sig, ok := <-signals
		if !ok {
			return
		}
		number, _ := sig.(syscall.Signal)
		cancel(runner.Interrupted{Signal: proc.SignalName(number)})
		if sig, ok = <-signals; ok {
			number, _ = sig.(syscall.Signal)
			os.Exit(exitSignal + int(number))
		}
	}()
	return ctx, func() { signal.Stop(signals); close(signals); cancel(nil) }
}

// playOne runs, then judges what was saved: an interrupted run is judged and
// reported too.
func (a *app) playOne(ctx context.Context, self string, play *scenarios.Scenario, spec host.Spec, f runFlags) (*verdict.Judged, error) {
	dir, err := newRunDir(f.out, play.Name, spec.Name)
	if err != nil {
		return nil, usage(err, "choose another folder with --out")
	}
	link := sync.OnceFunc(func() { linkLatest(f.out, dir) })
	seed := f.seed
	if seed == 0 {
		seed = rand.Uint64N(1<<53-1) + 1 // fits a JSON number
	}
	params := runner.Params{
		Self: self, Scenario: play, Host: spec, Dir: dir, Seed: seed, Tool: tool(),
		Command: reproduce(play, spec, f, seed),
		Settle:  record.Duration(f.settle), Confirm: record.Duration(f.confirm), Start: record.Duration(f.start),
	}
	live := progress.Start(progress.Params{
		Out: a.err, Mode: a.progressMode(f.progress), Scenario: play.Name, Host: spec.Name, Steps: len(play.Expand()), Width: width(a.err),
		Limits: params.Limits(),
	})
	params.OnEvent = func(e record.Event) { link(); live.Event(e) }
	failed := runner.Run(ctx, params)
	live.Stop()
	saved, err := record.Read(dir)
	if err != nil && failed != nil { // nothing was played, and why is known
		_ = os.Remove(dir)
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	j := &verdict.Judged{Run: saved, Verdict: verdict.Judge(saved), Dir: dir, HostLog: hostLog(dir)}
	page := filepath.Join(dir, runner.ReportFile)
	if err := writeHTML(page, againstList(*j), *j); err != nil {
		failed = errors.Join(failed, err)
	} else {
		j.Page = page
	}
	return j, failed
}

// newRunDir makes the run's folder. It is for its user alone: what the host
// wrote to stderr is in it, whatever that holds.
func newRunDir(out, scenario, hostName string) (string, error) {
	base := fmt.Sprintf("%s-%s-%s", time.Now().Format("20060102-150405"), fileName(scenario), fileName(hostName))
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		dir := filepath.Join(out, name)
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return dir, nil
	}
}

// linkLatest points "latest" to a run that has begun.
func linkLatest(out, dir string) {
	link, name := filepath.Join(out, "latest"), filepath.Base(dir)
	temporary := link + "." + name
	if os.Symlink(name, temporary) == nil && os.Rename(temporary, link) != nil {
		_ = os.Remove(temporary)
	}
}

func fileName(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '_'
	}, s)
}

// limitWords are the flags of the times that the user insists on.
func limitWords(settle, confirm, start time.Duration) (words []string) {
	for _, limit := range []struct {
		flag string
		d    time.Duration
	}{{"--settle", settle}, {"--confirm", confirm}, {"--start", start}} {
		if limit.d > 0 {
			words = append(words, limit.flag, limit.d.String())
		}
	}
	return words
}

// reproduce is the command line that plays the same again.
func reproduce(play *scenarios.Scenario, spec host.Spec, f runFlags, seed uint64) []string {
	name := play.Name
	if b, err := scenarios.Builtin(name); err != nil || b.Source != play.Source {
		name = play.File
	}
	words := []string{"leakbench", "run", name, "--seed", fmt.Sprint(seed)}
	words = append(words, limitWords(f.settle, f.confirm, f.start)...)
	if spec.Kind == record.KindCommand && spec.File == "" {
		return append(append(words, "--"), spec.Argv...)
	}
	if f.host != "" {
		return append(words, "--host", f.host)
	}
	return append(words, "--host", spec.Name)
}
