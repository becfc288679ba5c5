//go:build darwin

package portable

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

// deaths is the one kqueue of this program.
var deaths = sync.OnceValues(newDeaths)

func newDeaths() (*Deaths, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, err
	}
	unix.CloseOnExec(queue)
	return &Deaths{
		Watch: func(pid int) error {
			change := unix.Kevent_t{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
			for {
				_, err := unix.Kevent(queue, []unix.Kevent_t{change}, nil, nil)
				if !errors.Is(err, unix.EINTR) {
					return err
				}
			}
		},
		Next: func() (pids []int, err error) {
			events := make([]unix.Kevent_t, 16)
			n, err := unix.Kevent(queue, nil, events, nil)
			if errors.Is(err, unix.EINTR) {
				return nil, nil
			}
			for _, e := range events[:max(n, 0)] {
				pids = append(pids, int(e.Ident))
			}
			return pids, err
		},
	}, nil
}

// WaitTold waits for the end of a process where the kernel tells it (kqueue(2), NOTE_EXIT). ESRCH: there is no process, or a zombie.
// told: err is nil when it has ended, or the cause of ctx. Otherwise nothing is known.
func WaitTold(ctx context.Context, id record.Identity) (told bool, err error) {
	d, err := deaths()
	if err != nil {
		return false, nil //nolint:nilerr // deaths are polled for then
	}
	err = d.Wait(ctx, id.PID, func() error { return Check(id) })
	switch {
	case err == nil, errors.Is(err, unix.ESRCH), errors.Is(err, ErrGone):
		return true, nil
	case ctx.Err() != nil:
		return true, context.Cause(ctx)
	}
	return false, nil
}
