//go:build unix

package keeper

import (
	"net"
	"os"
	"syscall"
)

// detached keeps the keeper out of the terminal's foreground group: a ^C is
// for the bench alone.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// sendLine writes a line; the kernel duplicates the fds into the receiver
// (SCM_RIGHTS, unix(7)) together with the line's first byte.
func sendLine(conn *net.UnixConn, line []byte, files []*os.File) error {
	if len(files) == 0 {
		_, err := conn.Write(line)
		return err
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	n, _, err := conn.WriteMsgUnix(line, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(line) {
		_, err = conn.Write(line[n:])
	}
	return err
}

// fdReader reads a stream and collects the fds that ride along.
type fdReader struct {
	conn *net.UnixConn
	oob  [256]byte
	fds  []int
}

func (r *fdReader) Read(p []byte) (int, error) {
	n, oobn, _, _, err := r.conn.ReadMsgUnix(p, r.oob[:])
	if oobn > 0 {
		messages, perr := syscall.ParseSocketControlMessage(r.oob[:oobn])
		if perr != nil {
			return n, perr
		}
		for _, m := range messages {
			if fds, ferr := syscall.ParseUnixRights(&m); ferr == nil {
				r.fds = append(r.fds, fds...)
			}
		}
	}
	return n, err
}

// take hands over the fds that came with the last lines, closed on exec.
func (r *fdReader) take(n int) ([]*os.File, bool) {
	if len(r.fds) < n {
		return nil, false
	}
	files := make([]*os.File, n)
	for i, fd := range r.fds[:n] {
		syscall.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "host-stdio")
	}
	r.fds = r.fds[n:]
	return files, true
}
