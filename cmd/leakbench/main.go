// Command leakbench is a crash-test lab for programs that launch MCP servers over stdio.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	_ "github.com/leakbench/leakbench/fakeserver" // dispatches in its init
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/words"
)

func main() { os.Exit(run(os.Args)) }

// run is main without the exit, for the tests.
func run(args []string) int {
	if status, ok := reexec.Main(args); ok {
		return status
	}
	a := &app{out: &files.Output{File: os.Stdout}, err: os.Stderr}
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	bug.OnPanic(func(p *bug.Panic) { _ = a.panicked(p, stop) })
	root := a.root()
	root.SetContext(ctx)
	return a.execute(root, args[1:])
}

// app is what the commands share.
type app struct {
	out, err io.Writer
	format   string // text, json
	color    string // auto, always, never
	verbose  bool   // all values
	printed  bool   // an object is on standard output
	mishap   mishap
}

// execute runs the command line and returns the exit code.
func (a *app) execute(root *cobra.Command, args []string) int {
	root.SetArgs(args)
	if err := a.orPanicked(bug.Catch(root.Execute)); err != nil {
		return a.fail(err)
	}
	if out, ok := a.out.(*files.Output); ok && out.Failed != nil {
		return a.fail(out.Failed)
	}
	return exitClean
}

func (a *app) fail(err error) int {
	var printed exit
	if errors.As(err, &printed) {
		return int(printed)
	}
	f := failureOf(err)
	if f.code == exitBug {
		f.hint += a.saved()
	}
	if a.format == "json" {
		envelope := map[string]any{"error": map[string]any{"code": f.code, "message": f.Error(), "hint": f.hint}}
		_ = json.NewEncoder(a.err).Encode(envelope)
		if !a.printed { // standard output always holds one object
			_ = formats.JSON(a.out, nil, formats.Exit{Code: f.code, Reason: f.Error()}, formats.More{})
		}
		return f.code
	}
	fmt.Fprintf(a.err, "leakbench: %s\n", harmless(f.Error()))
	if f.hint != "" {
		fmt.Fprintf(a.err, "hint: %s\n", harmless(f.hint))
	}
	return f.code
}

// harmless is a text for a terminal or the log of a CI system: what a file or a host has put into it is no command there.
func harmless(message string) string {
	lines := strings.Split(text.PrintableLines(message), "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, " \t")
		lines[i] = line[:len(line)-len(rest)] + words.Defuse(rest)
	}
	return strings.Join(lines, "\n")
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:                        "leakbench",
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		Args:                       ofSubcommands,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.Version = thisBuild().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetOut(a.out)
	root.SetErr(a.err)
	flags := root.PersistentFlags()
	choiceFlag(root, flags, &a.format, "format", "text", "text or json", "text", "json")
	choiceFlag(root, flags, &a.color, "color", "auto", "auto, always or never; NO_COLOR and FORCE_COLOR are obeyed", "auto", "always", "never")
	root.AddCommand(a.runCommand(), a.attachCommand(), a.serverCommand(), a.gateCommand(), a.compareCommand(), a.knownCommand(),
		a.replayCommand(), a.mergeCommand(), a.judgeCommand(), a.reportCommand(), a.openCommand(), a.runsCommand(), a.listCommand(),
		a.hostsCommand(), a.explainCommand(),
		a.validateCommand(), a.schemaCommand(), a.doctorCommand(),
		a.initCommand(), a.exploreCommand(), a.shrinkCommand(), a.bisectCommand(),
		a.labCommand(), a.scoreCommand(), a.selftestCommand(), a.versionCommand(), fakeserverHelp())
	describe(root, root.Name(), helps())
	strictCommands(root)
	root.SetFlagErrorFunc(flagError)
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := chosen(cmd); err != nil {
			if a.format != "json" {
				a.format = "text"
			}
			return err
		}
		return cmp.Or(filled(cmd), noRoom(), notYet(cmd.CommandPath()), unlinked(cmd))
	}
	return root
}

// filled refuses a flag without its text, which a script passes if its variable is empty: the flag would mean what nobody asked for.
func filled(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		text := strings.HasPrefix(f.Value.Type(), "string") // a list, too
		if value := strings.Trim(f.Value.String(), "[]\" \t"); text && value == "" {
			err = cmp.Or(err, usage(fmt.Errorf("--%s is empty", f.Name), "leave it out, or give it a value"))
		}
	})
	return err
}

// ofSubcommands refuses an argument that is no subcommand.
func ofSubcommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := lists.Map(cmd.Commands(), (*cobra.Command).Name)
	asked := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()) + " " + args[0])
	return usage(fmt.Errorf("unknown command %q", asked), cmp.Or(text.DidYouMean(args[0], names), cmd.CommandPath()+" --help"))
}

// needsSubcommand refuses a group of commands without one of them.
func needsSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return ofSubcommands(cmd, args)
	}
	return usage(errors.New("no subcommand given"), cmd.CommandPath()+" --help")
}

// strictCommands adds cobra's own commands, and has them refuse what they do not know: they would print a help and exit with 0.
func strictCommands(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args, c.RunE = needsSubcommand, func(*cobra.Command, []string) error { return nil }
			for _, shell := range c.Commands() {
				shell.Args = noArgs
			}
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err != nil || !of.HasSubCommands() {
					return err
				}
				return ofSubcommands(of, rest)
			}
		}
	}
}

// fakeserverHelp is the entry in the list of commands: package fakeserver has taken over long before this one could run.
func fakeserverHelp() *cobra.Command {
	return &cobra.Command{
		Use:                "fakeserver",
		DisableFlagParsing: true,
		RunE:               func(*cobra.Command, []string) error { return nil },
	}
}

// The exit codes.
const (
	exitClean        = 0
	exitFinding      = 1
	exitUsage        = 2
	exitInconclusive = 3
	exitHost         = 4
	exitBug          = 70
	exitSignal       = 128 // + the signal's number
)

// exits is what ends with each code, and what the help says of it.
var exits = []struct {
	code int
	of   gate.Outcome // "" where only an error ends with it
	help string
}{
	{exitClean, gate.Pass, "clean, or only findings that are listed as known"},
	{exitFinding, gate.Fail, `a finding that is an error: a leak, or a process killed by mistake; of
         gate, merge and server also an entry of the list of known findings
         that is stale or expired; of these and compare also a time or size
         that has grown`},
	{exitUsage, "", `bad flag, scenario or file, or a machine that lacks what a run needs;
         nothing ran`},
	{exitInconclusive, gate.Inconclusive, "inconclusive: something could not be decided"},
	{exitHost, gate.HostFailed, "the host did not start or did not speak its protocol"},
	{exitBug, "", "a bug of the bench"},
	{exitSignal, "", "stopped by signal n, after cleaning up"},
}

func exitTable() string {
	lines := []string{"Exit codes:"}
	for _, e := range exits {
		code := fmt.Sprint(e.code)
		if e.code == exitSignal {
			code += "+n"
		}
		lines = append(lines, fmt.Sprintf("  %-6s %s", code, e.help))
	}
	return strings.Join(lines, "\n")
}

// exitOf is the exit code of an outcome.
func exitOf(o gate.Outcome) int {
	for _, e := range exits {
		if o != "" && e.of == o {
			return e.code
		}
	}
	return exitBug
}

// exit is how a command ends that has printed its answer: with the code that it carries.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// exitWhen ends a command with a code where something is so.
func exitWhen(so bool, code int) error {
	if so {
		return exit(code)
	}
	return nil
}

// failure is an error that knows its exit code and the next step to take.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage makes an error one of whoever asked; nil stays nil.
func usage(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &play.Misuse{Err: err, Hint: hint}
}

// remedies are the flags by which a misuse is remedied.
var remedies = map[play.Remedy]string{
	play.OtherFolder:   "choose another folder with --out",
	play.NoLink:        "remove the link, or choose another folder with --dir",
	play.OtherCorpus:   "choose another folder with --corpus",
	play.NewRecord:     "name another file with --record",
	play.OtherRecord:   "choose another file with --record",
	play.RunsFolder:    "-o names their folder",
	play.HostCommand:   "for example: leakbench run storm -- my-gateway --mcp '{{server}}'",
	play.ServerCommand: "its command goes after --; for example: leakbench server -- npx -y @modelcontextprotocol/server-everything",
	play.WholeCommand:  "give the command again: leakbench replay RUN -- COMMAND ARGS...",
}

// noFolder are the errors of a folder that nothing can be written to.
var noFolder = []error{syscall.EFBIG, syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.ENOTDIR}

// fate is what becomes of an error by what is in it.
type fate struct {
	is      error   // nil: anything
	because []error // and one of these; nil: for whatever reason
	code    int
	hint    string
}

func (f fate) of(err error) bool {
	in := func(one error) bool { return errors.Is(err, one) }
	return (f.is == nil || in(f.is)) && (f.because == nil || slices.ContainsFunc(f.because, in))
}

var fates = []fate{
	{observe.ErrProgram, nil, exitInconclusive, "run it again, and do not move or replace the program"},
	{observe.ErrSetUp, []error{syscall.ENOSPC, syscall.EROFS}, exitUsage, "choose another folder with --out"},
	{observe.ErrSetUp, nil, exitUsage, "leakbench doctor says what this machine lacks"},
	{observe.ErrHost, nil, exitHost, "its stderr is in " + observe.HostLog + " of the run's folder"},
	{keeper.ErrGone, nil, exitInconclusive, "the keeper, which watches the host, was killed or stopped from outside: run it again"},
	{
		record.ErrWrite, nil, exitInconclusive,
		"what could be saved is in the run's folder: make room (df, ulimit -f), or choose another folder with --out",
	},
	{nil, []error{syscall.EMFILE, syscall.ENFILE}, exitUsage, "ulimit -n 1024"},
	{nil, noFolder, exitUsage, "choose another folder with --out"},
}

// failureOf classifies an error.
func failureOf(err error) *failure {
	var stop observe.Interrupted
	var classified *failure
	var misuse *play.Misuse
	var missing *subject.Missing
	var file *fs.PathError
	aBug := &failure{exitBug, err, "this is a bug of leakbench: please report it at " + issues + " with this text and the run's folder"}
	switch {
	case errors.As(err, new(*bug.Panic)):
		return aBug
	case errors.As(err, &classified):
		return classified
	case errors.As(err, &file) && file.Path == os.Stdout.Name():
		return &failure{exitInconclusive, err, "the answer could not be written: make room where standard output goes"}
	case errors.Is(err, hostfile.ErrNoFolder):
		return &failure{exitUsage, err, "set HOME, or LEAKBENCH_HOSTS_DIR"}
	case errors.As(err, &misuse):
		return &failure{exitUsage, misuse, cmp.Or(misuse.Hint, remedies[misuse.Remedy])}
	case errors.As(err, &missing):
		return &failure{exitHost, missing, missing.Run}
	case errors.As(err, &stop):
		sig, _ := proc.ParseSignal(stop.Signal)
		hint := ""
		if stop.Stacks != "" {
			hint = "its stacks are in bench.log of the run's folder"
		}
		return &failure{exitSignal + int(sig), stop, hint}
	}
	if late := (*observe.Late)(nil); errors.As(err, &late) {
		longer := int(math.Ceil(4 * late.Limit.D().Seconds()))
		return &failure{exitHost, err, fmt.Sprintf("--start %ds waits longer; its stderr is in %s of the run's folder", longer, observe.HostLog)}
	}
	if i := slices.IndexFunc(fates, func(f fate) bool { return f.of(err) }); i >= 0 {
		return &failure{fates[i].code, err, fates[i].hint}
	}
	return aBug
}
