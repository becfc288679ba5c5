// Package proc knows processes: their identity, what runs below a process, what one is blocked in, and how to signal
// one without hitting another that got its pid.
//
// On Linux it reads /proc itself, on Windows it asks the kernel for the whole table. On macOS it reads through gopsutil (package
// portable), sees less, and says so in Weak.
package proc

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Self is the identity of this process. Start is 0 where it can't be seen.
func Self() record.Identity {
	id, err := Identify(os.Getpid())
	if err != nil {
		return record.Identity{PID: os.Getpid()}
	}
	return id
}

// Gone reports whether the process has ended; a zombie has. It is false where that can't be found out.
func Gone(id record.Identity) bool { return errors.Is(check(id), ErrGone) }

// Signal sends a signal to exactly that process. ErrGone: it has ended, and nothing was signalled, whoever has the pid now.
// Without a handle of the process (a pidfd, or a handle of Windows) the pid could be reused between the check and the signal.
func Signal(id record.Identity, sig syscall.Signal) error {
	err := ErrGone // kill(2) takes a pid below 1 for a group
	if id.PID > 0 {
		err = signalExactly(id, sig)
	}
	if errors.Is(err, syscall.ESRCH) || errors.Is(err, os.ErrProcessDone) {
		err = ErrGone
	}
	if err != nil {
		return fmt.Errorf("failed to send %s to process %d: %w", SignalName(sig), id.PID, err)
	}
	return nil
}

// WaitGone returns nil once the process has ended; a zombie has. Any number of callers may wait: where there are pidfds they
// share Go's poller and hold a file descriptor each, not a thread. It returns the cause of ctx when that ends first.
func WaitGone(ctx context.Context, id record.Identity) error {
	if id.PID <= 0 {
		return nil
	}
	if told, err := waitTold(ctx, id); told {
		return err
	}
	return pollGone(ctx, id)
}

func pollGone(ctx context.Context, id record.Identity) error {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		if err := check(id); err != nil && !transient(err) {
			return nilIfGone(err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// transient: there was no descriptor or no memory left to look with.
func transient(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

func nilIfGone(err error) error {
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

// AddDescendants adds to some pids those of all rows below them, in whatever order the rows come.
func AddDescendants(pids map[int]bool, rows iter.Seq[record.Process]) {
	for again := true; again; {
		again = false
		for p := range rows {
			if pids[p.PPID] && !pids[p.PID] {
				pids[p.PID], again = true, true
			}
		}
	}
}
