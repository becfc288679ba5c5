//go:build !linux && !windows

package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/proc/portable"
	"github.com/leakbench/leakbench/internal/record"
)

// pollEvery is how often a death is looked for where the kernel can't tell it.
const pollEvery = 20 * time.Millisecond

// ErrGone says that a process has ended: it has no row any more, it is a
// zombie where a living one is asked for, or its pid belongs to another.
var ErrGone = portable.ErrGone

// Table reads the process table. It serves one goroutine at a time.
type Table = portable.Table

// NewTable returns a table.
func NewTable() *Table { return portable.NewTable() }

// Identify returns the identity of the process that has the pid now, zombies included. ErrGone: there is none.
func Identify(pid int) (record.Identity, error) { return portable.Identify(pid) }

func check(id record.Identity) error { return portable.Check(id) }

// Examine gathers what can be known of each process, in the order of ids. It
// never fails: what could not be read is named in Unseen, with the reason.
func Examine(ids []record.Identity) []record.Evidence { return portable.Examine(ids) }

// signalExactly checks the identity right before it signals: here a process has no handle.
func signalExactly(id record.Identity, sig syscall.Signal) error {
	p, err := os.FindProcess(id.PID)
	if err != nil {
		return ErrGone
	}
	defer func() { _ = p.Release() }()
	if err := check(id); err != nil {
		return err
	}
	return p.Signal(sig)
}

func waitTold(ctx context.Context, id record.Identity) (told bool, err error) {
	return portable.WaitTold(ctx, id)
}

// Newborn is the process that was given a pid last. Here it can't be found out.
func Newborn(int) (record.Identity, bool) { return record.Identity{}, false }

// HasEnv says that a process was started with a variable in its environment. Here it can't be found out.
func HasEnv(record.Identity, string) bool { return false }

// Adopt is for Linux alone.
func Adopt() error {
	return fmt.Errorf("failed to become a child subreaper: %w", errors.ErrUnsupported)
}

// CensusName names how the process table is read.
const CensusName = "gopsutil"

// Weak says in sentences what can't be seen or done on this machine.
func Weak() []string {
	return []string{
		"signals go to the pid after its identity was checked, not through a handle",
		"whether a process runs or sleeps is known of survivors alone",
		"a process that is orphaned before a census has seen it leaves the census: only the ledger sees it, if it is a server",
		"what a survivor is blocked in, its signals, and who holds the other end of its stdin can't be seen",
		"the processor time of a process that this user may not inspect is given as 0",
	}
}

// TryPidfd is for Linux alone.
func TryPidfd() error { return fmt.Errorf("no pidfd: %w", errors.ErrUnsupported) }

// TrySockDiag is for Linux alone.
func TrySockDiag() error { return fmt.Errorf("no sock_diag: %w", errors.ErrUnsupported) }

// TryProc says why no process can be seen: nothing, where there is no /proc to look at.
func TryProc() error { return nil }
