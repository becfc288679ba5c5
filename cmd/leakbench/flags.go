package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/text"
)

// What a typing error may cost.
const (
	maxRepeat   = 1000
	maxTimes    = 10_000
	maxBusy     = 1024
	maxJobs     = 256
	maxExplored = 1_000_000
)

// limitFlags are the times that a user may insist on.
func limitFlags(flags *pflag.FlagSet, to *play.Limits, start string) {
	flags.Var((*duration.Flag)(&to.Settle), "settle", "how long the host may take to end a server; 0: as its profile or the scenario says")
	flags.Var((*duration.Flag)(&to.Confirm), "confirm",
		"how long to watch survivors after --settle; 0: as the host's profile or the scenario says")
	flags.Var((*duration.Flag)(&to.Start), "start", start+" (default 15s)")
}

// patienceFlag is a limit of the scenario that waits for the host's own one.
func patienceFlag(flags *pflag.FlagSet, to *play.Limits) {
	flags.Var((*duration.Flag)(&to.Patience), "patience",
		"how long to wait for the host's own time limit in the scenario patience; 0: as the scenario says (75s)")
}

// hostFlag is a flag that names a host. One that is empty would mean the default, which nobody wants who names a variable that is not set.
type hostFlag string

func (h *hostFlag) String() string { return string(*h) }

// Type is what the help calls it.
func (h *hostFlag) Type() string { return "string" }

// Set takes the name.
func (h *hostFlag) Set(name string) error {
	if name == "" {
		return errors.New("no host is named; is a variable empty?")
	}
	*h = hostFlag(name)
	return nil
}

// registerHost adds the flag that names the host to test.
func registerHost(cmd *cobra.Command, to *string) {
	cmd.Flags().Var((*hostFlag)(to), "host",
		"host to test: the name of a built-in host, a host file (.yaml), or the path of a driver (default "+play.DefaultHost+")")
	completeFlag(cmd, "host", cobra.ShellCompDirectiveDefault, hostNames)
}

// jobsFlag is how many runs are played side by side.
func jobsFlag(flags *pflag.FlagSet, to *int) {
	flags.IntVarP(to, "jobs", "j", 0, "how many runs to make at the same time; 0: as many as the machine can carry")
}

// choices is the annotation of a flag that takes one of some words.
const choices = "leakbench_choices"

// choiceFlag is a flag that takes one of some words, which completion offers and chosen checks.
func choiceFlag(cmd *cobra.Command, flags *pflag.FlagSet, to *string, name, preset, usage string, values ...string) {
	flags.StringVar(to, name, preset, usage)
	flags.Lookup(name).Annotations = map[string][]string{choices: values}
	completeFlag(cmd, name, cobra.ShellCompDirectiveNoFileComp, func() []string { return values })
}

func completeFlag(cmd *cobra.Command, name string, files cobra.ShellCompDirective, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(name, completion(files, values))
}

func completion(files cobra.ShellCompDirective, values func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return values(), files }
}

// chosen refuses a word that a flag does not take. The format comes first: it is that of the error.
func chosen(cmd *cobra.Command) (err error) {
	check := func(f *pflag.Flag) {
		if words := f.Annotations[choices]; words != nil && f.Value.String() != f.DefValue {
			err = cmp.Or(err, oneOf("--"+f.Name, f.Value.String(), words...))
		}
	}
	check(cmd.Flags().Lookup("format"))
	cmd.Flags().VisitAll(check)
	return err
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usage(fmt.Errorf("%s %q: must be one of %s", flag, value, strings.Join(allowed, ", ")), text.DidYouMean(value, allowed))
}

// between says where a number is out of its bounds.
func between(flag string, n, least, most int) error {
	if n < least || n > most {
		return usage(fmt.Errorf("%s %d: must be from %d to %d", flag, n, least, most), "")
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s takes no argument, not %q", strings.TrimPrefix(cmd.CommandPath(), "leakbench "), args[0]),
			cmp.Or(hostOptions(cmd), cmd.CommandPath()+" --help"))
	}
	return nil
}

// parsing is what strconv says of a number, or of a duration.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing .*: (invalid syntax|value out of range)$`)

// flagError adds what the user probably meant to cobra's words.
func flagError(cmd *cobra.Command, err error) error {
	_, name, ok := strings.Cut(err.Error(), "unknown flag: --")
	switch {
	case strings.Contains(err.Error(), "unknown shorthand flag"):
		return usage(err, cmp.Or(hostOptions(cmd), cmd.CommandPath()+" --help"))
	case !ok: // a value that can't be read, of which Go names its function
		return usage(errors.New(parsing.ReplaceAllString(err.Error(), "not a number that fits here")), "")
	}
	var names []string
	note := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(note)
	cmd.InheritedFlags().VisitAll(note)
	hint := hostOptions(cmd)
	if near := text.Nearest(name, names); near != "" {
		hint = "did you mean --" + near + "?"
	}
	return usage(err, hint)
}

// hostOptions is the hint for a flag that leakbench does not have, where it may be one of a host's command.
func hostOptions(cmd *cobra.Command) string {
	if !strings.HasSuffix(cmd.UseLine(), "[-- COMMAND ARGS...]") {
		return ""
	}
	what := cmd.Name()
	if cmd.ValidArgsFunction != nil { // it takes scenarios
		what += " storm"
	}
	return "the host's own command goes after --: leakbench " + what + " -- my-gateway --mcp '{{server}}'"
}
