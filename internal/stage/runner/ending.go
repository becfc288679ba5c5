package runner

import (
	"errors"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/ledger"
)

// Close ends what a run has, whose play came to err: its file, its keeper, and the folder of their sockets. The keeper is nil and the
// folder "" where the run did not get that far.
func Close(err error, file *record.Writer, k *keeper.Keeper, sockets string) error {
	err = errors.Join(err, file.Err(), file.Close())
	if k != nil {
		err = errors.Join(err, k.Close())
	}
	if sockets != "" {
		err = errors.Join(err, ledger.RemoveDir(sockets))
	}
	if err == nil {
		return nil
	}
	return shown{err}
}

// shown is an error as it may be shown: a host's own words may be in it.
type shown struct{ error }

func (e shown) Error() string { return redact.Text(e.error.Error()) }

func (e shown) Unwrap() error { return e.error }

// EndOf is how a run ended whose play came to an error, or to none.
func EndOf(err error) *record.End {
	var stop Interrupted
	switch {
	case err == nil:
		return &record.End{Reason: record.EndDone}
	case errors.As(err, &stop):
		return &record.End{Reason: record.EndInterrupted, Signal: stop.Signal}
	case errors.Is(err, ErrHost):
		return &record.End{Reason: record.EndFailed, Stage: record.StageHost, Error: err.Error()}
	case errors.Is(err, keeper.ErrGone):
		return &record.End{Reason: record.EndFailed, Stage: record.StageKeeper, Error: err.Error()}
	case errors.Is(err, ErrProgram):
		return &record.End{Reason: record.EndFailed, Stage: record.StageProgram, Error: err.Error()}
	default:
		return &record.End{Reason: record.EndFailed, Stage: record.StageBench, Error: err.Error()}
	}
}
