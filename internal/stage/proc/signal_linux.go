package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

// pollEvery is how often a death is looked for where the kernel can't tell it.
const pollEvery = 10 * time.Millisecond

// Signal sends a signal to exactly that process. ErrGone: it has ended, and
// nothing was signalled, whoever has the pid now.
//
// The pidfd is opened first and the identity checked after: an identity that
// fits then was there before the pidfd was opened, so the pidfd is its own.
func Signal(id record.Identity, sig syscall.Signal) error {
	err := signalExactly(id, sig)
	if errors.Is(err, unix.ESRCH) {
		err = ErrGone
	}
	if err != nil {
		return fmt.Errorf("failed to send %s to process %d: %w", SignalName(sig), id.PID, err)
	}
	return nil
}

func signalExactly(id record.Identity, sig syscall.Signal) error {
	if id.PID <= 0 {
		return ErrGone // kill(2) takes these for groups
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	if noPidfd(err) {
		return signalByPid(id, sig)
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := check(id); err != nil {
		return err
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0)
}

// signalByPid leaves a moment between the check and the signal.
func signalByPid(id record.Identity, sig syscall.Signal) error {
	if err := check(id); err != nil {
		return err
	}
	return unix.Kill(id.PID, sig)
}

// noPidfd: the kernel is older than 5.3, or a sandbox forbids the call.
func noPidfd(err error) bool { return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) }

// WaitGone returns nil once the process has ended; a zombie has. Any number
// of callers may wait: they share Go's poller and hold a file descriptor each,
// not a thread. It returns the cause of ctx when that ends first.
func WaitGone(ctx context.Context, id record.Identity) error {
	if id.PID <= 0 {
		return nil
	}
	// PIDFD_NONBLOCK, which lets the poller take the descriptor, is of Linux
	// 5.10; before that it is EINVAL.
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return pollGone(ctx, id)
	}
	handle := os.NewFile(uintptr(fd), "pidfd")
	defer handle.Close()
	if err := check(id); err != nil && !transient(err) {
		return nilIfGone(err)
	}
	err = waitReadable(ctx, handle)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return pollGone(ctx, id)
}

// waitReadable waits until the process behind a pidfd has ended, all of its
// threads included (pidfd_open(2)).
func waitReadable(ctx context.Context, handle *os.File) error {
	raw, err := handle.SyscallConn()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = handle.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	ended := false
	err = raw.Read(func(fd uintptr) bool {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(set, 0)
		ended = err == nil && n > 0
		return ended
	})
	if ended {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
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
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

func nilIfGone(err error) error {
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}
