package observe

import (
	"errors"
	"fmt"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
)

// The files of a run's folder.
const (
	RunFile    = "run.jsonl"
	HostLog    = "host.stderr.log"
	ReportFile = "report.html"
	KeeperLog  = "keeper.log"
	benchLog   = "bench.log" // what the bench did when it got SIGQUIT
)

// ErrHost says that the host did not start, or did not speak its protocol.
var ErrHost = errors.New("the host did not come up")

// Untestable is ErrHost in words of its own.
type Untestable struct{ Why string }

func (u *Untestable) Error() string { return u.Why }

func (u *Untestable) Unwrap() error { return ErrHost }

// Late is in the error of a host that was given too little time to come up, or never does.
type Late struct {
	What  string // "no hello"
	Limit record.Duration
}

func (l *Late) Error() string { return fmt.Sprintf("%s within %v", l.What, l.Limit) }

// ErrSetUp says that a run could not begin: nothing was started, and nothing is left of it.
var ErrSetUp = errors.New("the run could not begin")

// ErrProgram says that the program which plays all parts is not there any more, or another one.
var ErrProgram = errors.New("the leakbench program was deleted or replaced during the run, so no more servers can be launched")

// Interrupted is the cause of a context that a signal ended.
type Interrupted struct {
	Signal string
	Stacks string // what the bench did then, where the signal asks for that
}

func (i Interrupted) Error() string { return "stopped by " + i.Signal }

// shown is an error as it may be shown: a host's own words may be in it.
type shown struct{ error }

func (e shown) Error() string { return redact.Text(e.error.Error()) }

func (e shown) Unwrap() error { return e.error }

// endOf is how a run ended whose play came to an error, or to none.
func endOf(err error) *record.End {
	var stop Interrupted
	switch {
	case err == nil:
		return &record.End{Reason: record.EndDone}
	case errors.As(err, &stop):
		return &record.End{Reason: record.EndInterrupted, Signal: stop.Signal}
	}
	stage := record.StageBench
	switch {
	case errors.Is(err, ErrHost):
		stage = record.StageHost
	case errors.Is(err, keeper.ErrGone):
		stage = record.StageKeeper
	case errors.Is(err, ErrProgram):
		stage = record.StageProgram
	}
	return &record.End{Reason: record.EndFailed, Stage: stage, Error: err.Error()}
}
