package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/text"
)

// What a typing error may cost.
const (
	maxRepeat = 1000
	maxTimes  = 10_000
	maxBusy   = 1024
	maxJobs   = 256
)

// span is a duration of a flag: one below zero would be no limit at all.
type span time.Duration

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("a duration is written like 5s or 200ms")
	case d < 0:
		return errors.New("a duration can't be below 0")
	}
	*s = span(d)
	return nil
}

// String is 0 for none, which a help does not print as a default.
func (s *span) String() string {
	if *s == 0 {
		return "0"
	}
	return time.Duration(*s).String()
}

func (*span) Type() string { return "duration" }

// limitFlags are the times that a user may insist on.
func limitFlags(flags *pflag.FlagSet, to *play.Limits, start string) {
	flags.Var((*span)(&to.Settle), "settle", "how long a server may take to go; 0 is what the host's profile or the scenario says")
	flags.Var((*span)(&to.Confirm), "confirm", "how long a survivor is watched after that; 0 likewise")
	flags.Var((*span)(&to.Start), "start", start+" (default 15s)")
}

// choiceFlag is a flag that takes one of some words, which completion offers.
func choiceFlag(cmd *cobra.Command, flags *pflag.FlagSet, to *string, name, preset, usage string, values ...string) {
	flags.StringVar(to, name, preset, usage)
	completeFlag(cmd, name, cobra.ShellCompDirectiveNoFileComp, func() []string { return values })
}

func completeFlag(cmd *cobra.Command, name string, files cobra.ShellCompDirective, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(name, completion(files, values))
}

func completion(files cobra.ShellCompDirective, values func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { return values(), files }
}

func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return usage(fmt.Errorf("%s %q: must be one of %v", flag, value, allowed), text.DidYouMean(value, allowed))
}

// between says where a number is out of its bounds.
func between(flag string, n, least, most int) error {
	from := "from "
	if flag == "--repeat" || flag == "--retries" {
		from = ""
	}
	if n < least || n > most {
		return usage(fmt.Errorf("%s %d: must be %s%d to %d", flag, n, from, least, most), "")
	}
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s takes no argument, not %q", cmd.CommandPath(), args[0]), "")
	}
	return nil
}

// flagError adds what the user probably meant to cobra's words.
func flagError(cmd *cobra.Command, err error) error {
	_, name, ok := strings.Cut(err.Error(), "unknown flag: --")
	if !ok {
		return usage(err, "")
	}
	var names []string
	note := func(f *pflag.Flag) { names = append(names, f.Name) }
	cmd.Flags().VisitAll(note)
	cmd.InheritedFlags().VisitAll(note)
	hint := ""
	if near := text.Nearest(name, names); near != "" {
		hint = "did you mean --" + near + "?"
	}
	return usage(err, hint)
}
