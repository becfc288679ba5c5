//go:build unix

package keeper

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// stderrLog takes what a host writes to stderr into a file, up to maxStderr.
type stderrLog struct {
	pipe *os.File

	mu  sync.Mutex // who has it reads from the pipe, and has written that down when it lets go
	log cappedFile
	buf []byte
}

func newStderrLog(pipe, file *os.File) *stderrLog {
	return &stderrLog{pipe: pipe, log: cappedFile{file: file}, buf: make([]byte, 32<<10)}
}

// drain returns when nobody holds the other end any more.
func (l *stderrLog) drain() {
	defer l.log.file.Close()
	defer l.pipe.Close()
	raw, err := l.pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		for {
			more, err := l.step(int(fd))
			if !more {
				return !errors.Is(err, unix.EAGAIN)
			}
		}
	})
}

// flush writes down what is in the pipe: a host that has ended has written that. Who inherited the other end may write on.
func (l *stderrLog) flush() {
	raw, err := l.pipe.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		for more, left := true, maxStderr/len(l.buf); more && left > 0; left-- {
			more, _ = l.step(int(fd))
		}
	})
}

// step reads once, and says whether there may be more.
func (l *stderrLog) step(fd int) (more bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := unix.Read(fd, l.buf)
	if errors.Is(err, unix.EINTR) {
		return true, nil
	}
	if n <= 0 {
		return false, err
	}
	_, _ = l.log.Write(l.buf[:n])
	return true, nil
}
