package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/scenarios"
)

func (a *app) replayCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "replay RUN [flags] [-- COMMAND ARGS...]",
		Short: "Play a run again, with its scenario, seed and order, and say whether it ends alike",
		Long: `Play a run again: the very text of its scenario, its seed, its order, its limits,
against its host, and say whether the outcome is the same. Another host can be
named with --host or after --: then it says what that one makes of it.

` + exitTable,
		Example: "  leakbench replay .leakbench/latest\n  leakbench replay .leakbench/latest --host exact",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.replay(cmd, args, f) },
	}
	f.register(cmd)
	f.repeat = 1
	return cmd
}

func (a *app) replay(cmd *cobra.Command, args []string, f runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	outlets, err := a.runOutlets(cmd, f.reporters)
	if err != nil {
		return err
	}
	paths, command := splitAtDash(cmd, args)
	if len(paths) != 1 {
		return usage(fmt.Errorf("replay takes one run, not %d", len(paths)), "for example: leakbench replay .leakbench/latest")
	}
	old, err := judgeAll(paths)
	if err != nil {
		return err
	}
	then := old[0]
	play, err := playOf(then.Run)
	if err != nil {
		return usage(err, "")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	spec, err := hostAgain(self, then.Run, &f, command)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	now, failed := a.playOne(ctx, self, play, spec, f)
	if now == nil {
		return a.conclude(nil, failed, outlets)
	}
	r := baseline.Replay(then, *now)
	return a.concludeWith([]verdict.Judged{*now}, failed, outlets, addition{
		more: formats.More{Replay: &r},
		text: func(w io.Writer) error { return baseline.ReplayText(w, r, a.textOptions()) },
	})
}

// playOf is the scenario as it was then, whatever its file says now.
func playOf(run *record.Run) (*scenarios.Scenario, error) {
	h := &run.Header
	if b, err := scenarios.Builtin(h.Scenario.Name); err == nil && b.Source == h.Scenario.Source {
		return b, nil
	}
	file := h.Scenario.File
	if file == "" {
		file = h.Scenario.Name + ".yaml"
	}
	s, err := scenarios.Parse(file, []byte(h.Scenario.Source))
	if err != nil {
		return nil, fmt.Errorf("this version can't play the scenario of the run: %w", err)
	}
	return s, nil
}

// hostAgain is the host of the run, unless another is named, and the flags that
// it was played with.
func hostAgain(self string, run *record.Run, f *runFlags, command []string) (host.Spec, error) {
	words, old := splitCommand(run.Header.Command)
	if f.seed == 0 {
		f.seed = run.Header.Seed
	}
	for _, limit := range []struct {
		flag string
		to   *time.Duration
	}{{"--settle", &f.settle}, {"--confirm", &f.confirm}, {"--start", &f.start}} {
		if d, err := time.ParseDuration(after(words, limit.flag)); err == nil && *limit.to == 0 {
			*limit.to = d
		}
	}
	if command != nil || f.host != "" {
		return theHost(self, f.host, command)
	}
	if len(old) == 0 {
		f.host = after(words, "--host")
		if f.host == "" {
			f.host = run.Header.Host.Name
		}
		return theHost(self, f.host, nil)
	}
	if slices.ContainsFunc(old, hidden) {
		return host.Spec{}, usage(errors.New("a part of the host's command is not in the run, where no secret is written down"),
			"give the command again: leakbench replay RUN -- COMMAND ARGS...")
	}
	return theHost(self, "", old)
}

// hidden says that a word is not what the host was started with: redacted, or
// cut off.
func hidden(word string) bool {
	return strings.Contains(word, record.Redacted) || strings.Contains(word, "…")
}

func splitCommand(words []string) (flags, command []string) {
	if at := slices.Index(words, "--"); at >= 0 {
		return words[:at], words[at+1:]
	}
	return words, nil
}

func after(words []string, flag string) string {
	if at := slices.Index(words, flag); at >= 0 && at+1 < len(words) {
		return words[at+1]
	}
	return ""
}
