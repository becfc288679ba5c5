//go:build unix

package keeper

import (
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

// stopSignal keeps a process from starting others before it is killed.
const stopSignal = syscall.SIGSTOP

// tellExit tells how a process ended that was reaped: nothing of one that was
// none of the host's, and that the keeper itself has ended.
func (k *process) tellExit(row record.Process, status syscall.WaitStatus) {
	exit := record.Exit{Code: status.ExitStatus()}
	if status.Signaled() {
		exit = record.Exit{Code: -1, Signal: proc.SignalName(status.Signal())}
	}
	k.live.Lock()
	stood, swept := k.others[row.Identity], k.swept
	e := Exited{
		Process: row, Exit: exit, Host: row.Identity == k.host, Asked: k.asked[row.Identity],
		Bystander: stood == inHostGroup, Twin: stood == isTwin, Recycled: stood == isRecycled,
	}
	k.live.Unlock()
	if stood == isHosts || stood != isPlacement && !swept {
		k.say(reply{Exited: &e})
	}
}

// noteReaped wakes a sweep.
func (k *process) noteReaped() {
	select {
	case k.reaped <- struct{}{}:
	default:
	}
}

// detached keeps the keeper out of the terminal's foreground group: a ^C is for the bench alone.
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

// endure has a write beyond the size that a file may have fail, which would end
// the process. It is not ignored, which a host would inherit.
func endure() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }
