package fakeserver

import (
	"os"
	"sync"
	"sync/atomic"
)

// output is stdout. Nothing that becomes of it ends the server: a host that
// has stopped reading is one of the things to be seen.
type output struct {
	mu     sync.Mutex
	file   *os.File
	silent atomic.Bool
}

// open reports whether an answer still has a chance to reach the host.
func (o *output) open() bool { return !o.silent.Load() }

// mute drops all further lines.
func (o *output) mute() { o.silent.Store(true) }

// close closes stdout. It does not wait for a line that is being written: the
// host may have left the pipe full.
func (o *output) close() {
	o.mute()
	_ = o.file.Close()
}

// line writes one line, its end included. EPIPE comes back as an error
// because SIGPIPE is ignored; there is nobody to tell.
func (o *output) line(b []byte) {
	if !o.open() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.file.Write(b); err != nil {
		o.mute()
	}
}
