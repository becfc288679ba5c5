//go:build unix

package ledger

import (
	"errors"
	"syscall"
)

// maxPull is how much is read of one peer before others get their turn, in bytes.
const maxPull = 1 << 20

// ahead is for systems where nothing can be read without waiting for it.
type ahead struct{}

func newAhead() ahead { return ahead{} }

// listen tells what the peer says, until its connection ends.
func (p *peer) listen() {
	raw, err := p.conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Read(func(fd uintptr) bool {
		p.l.order.Lock()
		defer p.l.order.Unlock()
		for more := true; more; {
			more = p.read(int(fd))
			if p.tellsOfOthers() {
				p.l.drain()
			} else {
				flush([]*peer{p})
			}
		}
		return p.over
	})
}

// pull takes in what the peer has sent so far, without waiting for more.
func (p *peer) pull() {
	raw, err := p.conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { p.read(int(fd)) })
}

// read reads until there is nothing more to read, or it has been a lot. The descriptor does not block.
func (p *peer) read(fd int) (more bool) {
	var buf [16 << 10]byte
	for got := 0; !p.over; {
		n, err := syscall.Read(fd, buf[:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return false
		case err != nil || n == 0:
			p.over = true
		default:
			p.feed(buf[:n])
			if got += n; got >= maxPull {
				return true
			}
		}
	}
	return false
}
