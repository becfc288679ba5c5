package await

import (
	"errors"
	"syscall"
)

// Exit returns when the child has exited, and leaves it a zombie: nobody else
// gets its pid. It reports false where that can't be waited for. It asks a
// kqueue: waitid(2) of macOS also returns for a child that was stopped, even
// with WEXITED alone (golang/go#19314).
func Exit(pid int) bool {
	queue, err := syscall.Kqueue()
	if err != nil {
		return false
	}
	defer syscall.Close(queue)
	syscall.CloseOnExec(queue)
	event := syscall.Kevent_t{Ident: uint64(pid), Filter: syscall.EVFILT_PROC, Fflags: syscall.NOTE_EXIT}
	event.Flags = syscall.EV_ADD | syscall.EV_ONESHOT
	err = kevent(queue, []syscall.Kevent_t{event}, nil)
	if errors.Is(err, syscall.ESRCH) { // it is a zombie already
		return true
	}
	return err == nil && kevent(queue, nil, make([]syscall.Kevent_t, 1)) == nil
}

// kevent changes what a queue tells, or waits for that.
func kevent(queue int, changes, told []syscall.Kevent_t) error {
	for {
		if _, err := syscall.Kevent(queue, changes, told, nil); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
