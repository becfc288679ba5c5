package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/proc"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/internal/subject/host"
)

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
         gate and merge also an entry of the list of known findings that is
         stale or expired, and a time or size that has grown`},
	{exitUsage, "", "bad flag, scenario or file; nothing ran"},
	{exitInconclusive, gate.Inconclusive, "inconclusive: something could not be decided"},
	{exitHost, gate.HostFailed, "the host did not start or did not speak its protocol"},
	{exitBug, "", "a bug of the bench"},
	{exitSignal, "", "stopped by signal n, after cleaning up"},
}

var exitTable = func() string {
	lines := []string{"Exit codes:"}
	for _, e := range exits {
		code := fmt.Sprint(e.code)
		if e.code == exitSignal {
			code += "+n"
		}
		lines = append(lines, fmt.Sprintf("  %-6s %s", code, e.help))
	}
	return strings.Join(lines, "\n")
}()

// exitOf is the exit code of an outcome.
func exitOf(o gate.Outcome) int {
	for _, e := range exits {
		if o != "" && e.of == o {
			return e.code
		}
	}
	return exitBug
}

// exit is how a command ends that has printed its answer: with the code that it
// carries.
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

func usage(err error, hint string) error { return &play.Misuse{Err: err, Hint: hint} }

// failureOf classifies an error.
func failureOf(err error) *failure {
	var stop runner.Interrupted
	var classified *failure
	var misuse *play.Misuse
	var missing *host.Missing
	switch {
	case errors.As(err, &classified):
		return classified
	case errors.As(err, &misuse):
		return &failure{exitUsage, misuse, misuse.Hint}
	case errors.As(err, &missing):
		return &failure{exitHost, missing, missing.Run}
	case errors.As(err, &stop):
		sig, _ := proc.ParseSignal(stop.Signal)
		return &failure{exitSignal + int(sig), stop, ""}
	case errors.Is(err, runner.ErrHost):
		return &failure{exitHost, err, "its stderr is in " + runner.HostLog + " of the run's folder"}
	case errors.Is(err, keeper.ErrGone):
		return &failure{exitInconclusive, err, "the process that watches the host was killed or stopped from outside: play it again"}
	case slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EROFS, syscall.EACCES, syscall.ENOTDIR}, func(no error) bool { return errors.Is(err, no) }):
		return &failure{exitUsage, err, "choose another folder with --out"}
	default:
		return &failure{exitBug, err, "this is a bug of leakbench: please report it with the run's folder"}
	}
}
