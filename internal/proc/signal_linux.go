package proc

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

// pollEvery is how often a death is looked for where the kernel can't tell it.
const pollEvery = 10 * time.Millisecond

// signalExactly opens the pidfd first and checks the identity after: an identity
// that fits then was there before the pidfd was opened, so the pidfd is its own.
func signalExactly(id record.Identity, sig syscall.Signal) error {
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

// waitTold waits for the end of a process where the kernel tells it.
func waitTold(ctx context.Context, id record.Identity) (told bool, err error) {
	// PIDFD_NONBLOCK, which lets the poller take the descriptor, is of Linux 5.10; before that it is EINVAL.
	fd, err := unix.PidfdOpen(id.PID, unix.PIDFD_NONBLOCK)
	if err != nil {
		return errors.Is(err, unix.ESRCH), nil
	}
	handle := os.NewFile(uintptr(fd), "pidfd")
	defer handle.Close()
	if err := check(id); err != nil && !transient(err) {
		return true, nilIfGone(err)
	}
	err = waitReadable(ctx, handle)
	return err == nil || ctx.Err() != nil, err
}

// waitReadable waits until the process behind a pidfd has ended, all of its threads included (pidfd_open(2)).
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
