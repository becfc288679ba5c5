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
