package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/play/server"
	"github.com/leakbench/leakbench/internal/stage/client"
	"github.com/leakbench/leakbench/internal/subject/checks"
)

type serverFlags struct {
	runFlags
	decideFlags
	server.Params
}

func serverLong() string {
	var b strings.Builder
	b.WriteString("Try an MCP server: start it, use it, end it in each way that clients use, and say\n" +
		"what it does wrong (laws S1 to S7: leakbench list laws). Nothing of it is left.\n\nChecks:\n")
	for _, c := range checks.All() {
		fmt.Fprintf(&b, "  %-10s %s\n", c.Name, c.Title)
	}
	return b.String() + "\nWith a list of known findings (--known) or a --baseline, the exit code is that of a\n" +
		"gate: listed findings pass. A server that exits before it answers is exit 4.\n\n" + exitTable
}

func (a *app) serverCommand() *cobra.Command {
	var f serverFlags
	cmd := &cobra.Command{
		Use:   "server [flags] -- COMMAND ARGS...",
		Short: "Try an MCP server: does it answer, exit when asked, and leave nothing",
		Long:  serverLong(),
		Example: `  leakbench server -- npx -y @modelcontextprotocol/server-everything
  leakbench server --only eof,sigterm -- python3 my_server.py
  leakbench server --call browser_navigate --args '{"url":"about:blank"}' -- npx -y @playwright/mcp --headless`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.server(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // who forgets -- is told so, whatever flags the command has
	flags.StringSliceVar(&f.Only, "only", nil, "the checks to run: "+strings.Join(checks.Names(), ", "))
	flags.StringVar(&f.Name, "name", "", "name of the server (default: from its command)")
	flags.StringVar(&f.Tool, "call", "", "tool to call once the server is up; it should take a second or more, for eof-call")
	flags.StringVar(&f.Args, "args", "", "arguments of --call, a JSON object")
	for _, d := range []struct {
		to          *duration.Flag
		name, usage string
		preset      duration.Flag
	}{
		{(*duration.Flag)(&f.Limits.Grace), "grace", "how long the server may take to exit", duration.Flag(client.DefaultGrace)},
		{
			(*duration.Flag)(&f.Limits.Watch), "watch", "how long to watch a server that did not exit, after --grace",
			duration.Flag(client.DefaultWatch),
		},
		{(*duration.Flag)(&f.Limits.Start), "start", "how long it may take to answer initialize", duration.Flag(client.DefaultStart)},
		{(*duration.Flag)(&f.Limits.Idle), "idle", "how long to watch it while nothing is asked", duration.Flag(client.DefaultIdle)},
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
	one, err := server.Plan(f.Params, argv, &s.bench, &s.series)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	end := a.stream(&s)
	tries, _, failed := s.series.Play(ctx, one)
	end()
	if d.HasBase || len(d.Known.Entries) > 0 {
		d.Attempts = tries
		return a.decide(d, failed, s.outlets, f.decideFlags, s.bench.Out)
	}
	said := answerOf(gate.Final(tries), failed, s.outlets)
	if len(said.Runs) > 1 {
		said.suite = cmp.Or(s.bench.Out, ".")
	}
	return a.conclude(said)
}
