package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
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

const exitTable = `Exit codes:
  0      clean, or only findings that are listed as known
  1      a finding that is an error: a leak, or a process killed by mistake; of
         gate and merge also an entry of the list of known findings that is
         stale or expired, and a time or size that has grown
  2      bad flag, scenario or file; nothing ran
  3      inconclusive: something could not be decided
  4      the host did not start or did not speak its protocol
  70     a bug of the bench
  128+n  stopped by signal n, after cleaning up`

// failure is an error that knows its exit code and the next step to take.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usage(err error, hint string) error { return &failure{code: exitUsage, err: err, hint: hint} }

// failureOf classifies what a run returned.
func failureOf(err error) *failure {
	var stop runner.Interrupted
	var known *failure
	var missing *host.Missing
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &missing):
		return &failure{code: exitHost, err: missing, hint: missing.Run}
	case errors.As(err, &stop):
		sig, _ := proc.ParseSignal(stop.Signal)
		return &failure{code: exitSignal + int(sig), err: stop}
	case errors.Is(err, runner.ErrHost):
		return &failure{code: exitHost, err: err, hint: "its stderr is in " + runner.HostLog + " of the run's folder"}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.ENOTDIR):
		return &failure{code: exitUsage, err: err, hint: "choose another folder with --out"}
	default:
		return &failure{code: exitBug, err: err, hint: "this is a bug of leakbench: please report it with the run's folder"}
	}
}

// ending is how a command ends that has printed its answer: with the failure
// that stands above it, or with the answer's code.
func ending(f *failure, code int) error {
	if f != nil {
		return f
	}
	if code != exitClean {
		return verdictExit(code)
	}
	return nil
}

// exitOf is the exit code of verdicts.
func exitOf(judged []verdict.Judged) (code int, reason string) {
	worst := map[verdict.Outcome]int{}
	for _, j := range judged {
		worst[j.Verdict.Outcome]++
	}
	switch {
	case worst[verdict.Leak] > 0:
		return exitFinding, plural(worst[verdict.Leak], "run") + " with findings"
	case slices.ContainsFunc(judged, hostFailed):
		return exitHost, "the host did not start or did not speak its protocol"
	case worst[verdict.Inconclusive] > 0 || len(judged) == 0:
		return exitInconclusive, plural(worst[verdict.Inconclusive], "run") + " inconclusive"
	}
	return exitClean, "clean"
}

// hostFailed says that a run ended because its host could not be tested.
func hostFailed(j verdict.Judged) bool {
	if j.Run == nil || len(j.Run.Events) == 0 {
		return false
	}
	end := j.Run.Events[len(j.Run.Events)-1].End
	return end != nil && end.Reason == record.EndFailed && end.Stage == record.StageHost
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// flagError adds what the user probably meant to cobra's words.
func flagError(err error, known []string) error {
	_, name, ok := strings.Cut(err.Error(), "unknown flag: --")
	if !ok {
		return usage(err, "")
	}
	if near := nearest(name, known); near != "" {
		return usage(err, "did you mean --"+near+"?")
	}
	return usage(err, "")
}
