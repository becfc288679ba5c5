package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/lists"
	observeserver "github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play/server"
)

type serverFlags struct {
	runFlags
	decideFlags
	only             []string // names of checks; none: all
	name, tool, args string
	limits           observeserver.Limits
}

// words are what sets these flags, but for the checks.
func (f *serverFlags) words() (words []string) {
	for _, w := range []struct{ flag, value string }{{"--name", f.name}, {"--call", f.tool}, {"--args", f.args}} {
		if w.value != "" {
			words = append(words, w.flag, w.value)
		}
	}
	for _, w := range []struct {
		flag  string
		value time.Duration
	}{{"--grace", f.limits.Grace}, {"--watch", f.limits.Watch}, {"--start", f.limits.Start}, {"--idle", f.limits.Idle}} {
		if w.value > 0 {
			words = append(words, w.flag, w.value.String())
		}
	}
	return words
}

// params are what is tried, and an error where the flags ask for what can't be.
func (f *serverFlags) params(argv []string) (p server.Params, err error) {
	if err := server.Supported(argv); err != nil {
		return p, err
	}
	p.Name, p.Limits = f.name, f.limits
	p.Again = func(check string) []string {
		return slices.Concat([]string{"leakbench", "server", "--only", check}, f.words(), []string{"--"})
	}
	switch args := json.RawMessage(f.args); {
	case f.args != "" && f.tool == "":
		return p, usage(errors.New("--args without --call: no tool is named"), `for example: --call echo --args '{"message":"hi"}'`)
	case f.args != "" && json.Unmarshal(args, new(map[string]any)) != nil:
		return p, usage(fmt.Errorf("--args is not a JSON object: %.80q", f.args), `for example: --args '{"message":"hi"}'`)
	case f.tool != "":
		p.Call = &observeserver.Call{Tool: f.tool}
		if f.args != "" {
			p.Call.Args = args
		}
	}
	if p.Checks, err = checksOf(f.only); err != nil {
		return p, err
	}
	asksIdle := func(c observeserver.Check) bool { return c.Name == observeserver.Idle }
	if idle := f.limits.Idle; idle > 0 && idle < leastIdle && slices.ContainsFunc(p.Checks, asksIdle) {
		return p, usage(fmt.Errorf("--idle %s: must be %s or more: a server has 3 s to settle, and its growth is measured after that",
			idle, duration.Text(leastIdle)),
			"leave --idle out: it is 20 s; or leave the check out: leakbench server --only eof,sigterm")
	}
	return p, nil
}

// leastIdle is the shortest time in which the growth of an idle server shows.
const leastIdle = 9 * time.Second

// checksOf are the checks of these names, in their own order; none: all.
func checksOf(only []string) ([]observeserver.Check, error) {
	for _, name := range only {
		if _, known := observeserver.CheckNamed(name); !known {
			return nil, oneOf("--only", name, observeserver.CheckNames()...)
		}
	}
	if i := slices.IndexFunc(only, server.Lacking); i >= 0 {
		return nil, usage(fmt.Errorf("--only %s: the check needs SIGTERM, which %s does not have", only[i], runtime.GOOS),
			"run it on Linux, or in WSL")
	}
	chosen := func(c observeserver.Check) bool {
		return len(only) == 0 || slices.Contains(only, c.Name) || slices.Contains(only, c.Scenario())
	}
	return slices.DeleteFunc(observeserver.Checks(), func(c observeserver.Check) bool { return server.Lacking(c.Name) || !chosen(c) }), nil
}

// checkTable is what the help says of the checks.
func checkTable() string {
	line := func(c observeserver.Check) string { return fmt.Sprintf("  %-10s %s", c.Name, c.Title) }
	return strings.Join(lists.Map(observeserver.Checks(), line), "\n")
}

func (a *app) serverCommand() *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:  "server",
		RunE: func(cmd *cobra.Command, args []string) error { return a.server(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // a forgotten -- is an error, whatever flags the command has
	flags.StringSliceVar(&f.only, "only", nil, "the checks to run: "+strings.Join(observeserver.CheckNames(), ", "))
	flags.StringVar(&f.name, "name", "", "name of the server (default: from its command)")
	flags.StringVar(&f.tool, "call", "", "tool to call once the server is up; it should take a second or more, for eof-call")
	flags.StringVar(&f.args, "args", "", "arguments of --call, a JSON object")
	for _, d := range []struct {
		to          *duration.Flag
		name, usage string
		preset      duration.Flag
	}{
		{(*duration.Flag)(&f.limits.Grace), "grace", "how long the server may take to exit", duration.Flag(observeserver.DefaultGrace)},
		{
			(*duration.Flag)(&f.limits.Watch), "watch", "how long to watch a server that did not exit, after --grace",
			duration.Flag(observeserver.DefaultWatch),
		},
		{(*duration.Flag)(&f.limits.Start), "start", "how long it may take to answer initialize", duration.Flag(observeserver.DefaultStart)},
		{(*duration.Flag)(&f.limits.Idle), "idle", "how long to watch it while nothing is asked", duration.Flag(observeserver.DefaultIdle)},
	} {
		flags.Var(d.to, d.name, fmt.Sprintf("%s; 0: %s", d.usage, d.preset.String()))
	}
	f.registerOutput(cmd)
	f.series.Repeat = 1
	jobsFlag(flags, &f.series.Jobs)
	f.decideFlags.register(a, cmd)
	return cmd
}

func (a *app) server(cmd *cobra.Command, args []string, f serverFlags) error {
	names, argv := splitAtDash(cmd, args)
	if len(names) > 0 {
		return usage(fmt.Errorf("%q is left of --", names[0]),
			"the command of the server goes after --: leakbench server -- "+strings.Join(append(names, argv...), " "))
	}
	d, err := f.decider()
	if err != nil {
		return err
	}
	s, err := a.setUp(cmd, f.runFlags)
	if err != nil {
		return err
	}
	p, err := f.params(argv)
	if err != nil {
		return err
	}
	one, err := server.Plan(p, argv, &s.bench, &s.series)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	end := a.stream(&s)
	tries, not, failed := s.series.Play(ctx, one)
	end()
	if len(not) > 0 {
		names := lists.Map(not, func(n gate.NotApplicable) string { return n.Scenario })
		a.note("not played: %s: %s\n", strings.Join(names, ", "), not[0].Why)
	}
	if d.HasBase || len(d.Known.Entries) > 0 {
		d.Attempts, d.NotApplicable = tries, not
		return a.decide(d, failed, s.outlets, f.decideFlags, s.bench.Out)
	}
	said := answerOf(gate.Final(tries), failed, s.outlets)
	said.NotApplicable = not
	if len(said.Runs) > 1 {
		said.suite = cmp.Or(s.bench.Out, ".")
	}
	return a.conclude(said)
}
