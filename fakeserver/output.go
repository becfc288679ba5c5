package fakeserver

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
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

// line writes one line, its end included. After an error nothing more is
// written. EPIPE comes back as an error because SIGPIPE is ignored.
func (o *output) line(b []byte) error { return o.stream(b, nil, nil, 0) }

// stream writes a line whose middle is part, times times.
func (o *output) stream(before, part, after []byte, times int) error {
	if !o.open() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.open() {
		return nil
	}
	err := o.write(before)
	for i := 0; i < times && err == nil; i++ {
		err = o.write(part)
	}
	if err == nil {
		err = o.write(after)
	}
	return err
}

func (o *output) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	_, err := o.file.Write(b)
	if err != nil {
		o.mute()
	}
	return err
}

// last writes b, and nothing comes behind it.
func (o *output) last(b []byte) error {
	if !o.open() {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.write(b)
	o.mute()
	return err
}

// force writes b even where everything before has failed.
func (o *output) force(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write(b)
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
