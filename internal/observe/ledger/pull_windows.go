package ledger

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// ahead is the first byte of what a peer says next. There is no waiting for a pipe without reading from it: so one byte is waited for,
// and what comes with it is read by whoever holds Ledger.order.
type ahead struct {
	first chan firstByte // holds one
	owed  bool           // it was taken by another one than who waits for it; guarded by Ledger.order
}

type firstByte struct {
	b   [1]byte
	err error
}

func newAhead() ahead { return ahead{first: make(chan firstByte, 1)} }

// listen tells what the peer says, until its connection ends.
func (p *peer) listen() {
	for over := false; !over; {
		var f firstByte
		_, f.err = p.conn.Read(f.b[:])
		p.first <- f
		over = p.hear()
	}
}

// hear tells what has come with the first byte.
func (p *peer) hear() (over bool) {
	p.l.order.Lock()
	defer p.l.order.Unlock()
	p.pull()
	if p.tellsOfOthers() {
		p.l.drain()
	} else {
		flush([]*peer{p})
	}
	p.owed = false // from here on the next byte is waited for
	return p.over
}

// pull takes in what the peer has sent so far, without waiting for more.
func (p *peer) pull() {
	var buf [16 << 10]byte
	for !p.over {
		n, err := p.waiting()
		switch {
		case !p.owed:
			if n == 0 && err == nil && len(p.first) == 0 {
				return
			}
			// A line has more than one byte: where there are some, or the pipe has ended, the wait for the first one is over.
			f := <-p.first
			p.owed = true
			if p.over = f.err != nil; !p.over {
				p.feed(f.b[:])
			}
		case err != nil:
			p.over = true
		case n == 0:
			return
		default:
			n, err := p.conn.Read(buf[:min(n, len(buf))])
			p.over = err != nil
			p.feed(buf[:n])
		}
	}
}

// waiting is how many bytes are in the pipe. An error is its end.
func (p *peer) waiting() (int, error) {
	raw, err := p.conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var n uint32
	failed := raw.Control(func(h uintptr) { n, err = peek(windows.Handle(h)) })
	if failed != nil {
		err = failed
	}
	return int(n), err
}

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// peek is how many bytes can be read. x/sys does not have the call.
func peek(h windows.Handle) (n uint32, err error) {
	if ok, _, err := peekNamedPipe.Call(uintptr(h), 0, 0, 0, uintptr(unsafe.Pointer(&n)), 0); ok == 0 {
		return 0, err
	}
	return n, nil
}
