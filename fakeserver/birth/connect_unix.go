//go:build unix

package birth

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// connect does without package net, whose initialisation comes late in a big binary. A non-blocking socket in an
// *os.File waits in the runtime's poller as a net.Conn does.
func connect(path string) (stream, error) {
	fd, err := socket()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd)
		return nil, os.NewSyscallError("fcntl", err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		_ = syscall.Close(fd)
		return nil, &os.PathError{Op: "connect", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// socket is closed on exec: no child of a server may keep it alive.
func socket() (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	return fd, err
}

func isBacklogFull(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
}

// now is the time of a note.
func now() int64 { return time.Now().UnixNano() }
