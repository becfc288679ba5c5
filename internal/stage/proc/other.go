//go:build !linux

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc/portable"
)

// pollEvery is how often a death is looked for.
const pollEvery = 20 * time.Millisecond

// ErrGone says that a process has ended: it has no row any more, it is a
// zombie where a living one is asked for, or its pid belongs to another.
var ErrGone = portable.ErrGone

// Table reads the process table. It serves one goroutine at a time.
type Table = portable.Table

// NewTable returns a table.
func NewTable() *Table { return portable.NewTable() }

// Identify returns the identity of the process that has the pid now, zombies
// included. ErrGone: there is none.
func Identify(pid int) (record.Identity, error) { return portable.Identify(pid) }

// Self is the identity of this process. Start is 0 where it can't be seen.
func Self() record.Identity {
	id, err := Identify(os.Getpid())
	if err != nil {
		return record.Identity{PID: os.Getpid()}
	}
	return id
}

// Gone reports whether the process has ended; a zombie has. It is false where
// that can't be found out.
func Gone(id record.Identity) bool { return errors.Is(portable.Check(id), ErrGone) }

// Examine gathers what can be known of each process, in the order of ids. It
// never fails: what could not be read is named in Unseen, with the reason.
func Examine(ids []record.Identity) []record.Evidence { return portable.Examine(ids) }

// Signal sends a signal to the process. ErrGone: it has ended. On Windows the
// handle is opened before the identity is checked; elsewhere the pid could be
// reused between the check and the signal.
func Signal(id record.Identity, sig syscall.Signal) error {
	err := signalChecked(id, sig)
	if errors.Is(err, os.ErrProcessDone) {
		err = ErrGone
	}
	if err != nil {
		return fmt.Errorf("failed to send %s to process %d: %w", SignalName(sig), id.PID, err)
	}
	return nil
}

func signalChecked(id record.Identity, sig syscall.Signal) error {
	if id.PID <= 0 {
		return ErrGone // kill(2) takes these for groups
	}
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return ErrGone // it fails on Windows alone, where there is no such process
	}
	defer func() { _ = p.Release() }()
	if err := portable.Check(id); err != nil {
		return err
	}
	return p.Signal(sig)
}

// WaitGone returns nil once the process has ended; a zombie has. It returns
// the cause of ctx when that ends first.
func WaitGone(ctx context.Context, id record.Identity) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if err := portable.Check(id); errors.Is(err, ErrGone) {
			return nil
		} else if err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Adopt is for Linux alone.
func Adopt() error {
	return fmt.Errorf("failed to become a child subreaper: %w", errors.ErrUnsupported)
}

// CensusName names how the process table is read.
func CensusName() string { return "gopsutil" }

// Weak says in sentences what can't be seen or done on this machine.
func Weak() []string {
	return []string{
		"the process table is read through gopsutil, which may run ps for a row: it is slower, and start times are coarser than on Linux",
		"signals go to the pid after its identity was checked, not through a handle",
		"deaths are polled for",
		"what a survivor is blocked in, its signals, and who holds the other end of its stdin can't be seen",
	}
}

// TryPidfd is for Linux alone.
func TryPidfd() error { return fmt.Errorf("no pidfd: %w", errors.ErrUnsupported) }

// TrySockDiag is for Linux alone.
func TrySockDiag() error { return fmt.Errorf("no sock_diag: %w", errors.ErrUnsupported) }
