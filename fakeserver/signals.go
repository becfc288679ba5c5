package fakeserver

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// asking are the signals that ask a server to end.
var asking = map[os.Signal]string{
	syscall.SIGTERM: "SIGTERM",
	syscall.SIGINT:  "SIGINT",
	syscall.SIGHUP:  "SIGHUP",
}

// catchSignals must come before the server is ready: a signal that arrives
// from here on is seen, not died of.
func catchSignals() chan os.Signal {
	// A write to a closed stdout or stderr would end a Go program otherwise
	// (package os/signal, "SIGPIPE").
	signal.Ignore(syscall.SIGPIPE)
	caught := make(chan os.Signal, 16)
	for sig := range asking {
		signal.Notify(caught, sig)
	}
	return caught
}

func (s *server) watchSignals(caught <-chan os.Signal) {
	for sig := range caught {
		name, stdin := asking[sig], stdinState()
		s.bench.note(birth.Note{Note: birth.NoteSignal, Text: name, Stdin: stdin})
		go func() { // a server that takes its time still hears the next one
			if !s.commit(onTerm, nil) {
				s.end(name)
			}
		}()
	}
}

// The first thread reads stdin. It is the one that /proc shows for the whole
// process, so an action that keeps the server from reading is done by it: the
// process is then seen busy, asleep or blocked as a server with one thread is.
// It can't be called away from a read; who needs it meanwhile begins alone.

// takeOver makes f, again and again, all that the server does. It returns only
// where the first thread has taken over from the caller.
func (s *server) takeOver(f func()) {
	s.instead.Store(&f)
	for !s.takenOver.Load() {
		f()
	}
}

// handOver has the first thread do f, once it is back from its read.
func (s *server) handOver(f func()) { s.instead.Store(&f) }

// giveWay is called by the first thread each time it has read something. What
// it has read is then dropped.
func (s *server) giveWay() {
	f := s.instead.Load()
	if f == nil {
		return
	}
	s.takenOver.Store(true)
	for {
		(*f)()
	}
}
