package fakeserver

import (
	"errors"
	"fmt"
	"os"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

var errTaken = errors.New("another launch has it")

// lockAction holds what only one process can have, until it exits. A launch that
// finds it taken can't start: it says so, and exits with the status code (1 if
// none is given).
var lockAction = action{
	name: "lock", text: "holds what only one launch of the label can have until it exits; one that finds it taken exits with the status code",
	on:    []string{onStart},
	takes: []string{"code"},
	as: []Doc{
		{Name: "file", Text: "an exclusive lock on a file"},
		{Name: "port", Text: "a TCP port of 127.0.0.1, the same for all launches of a run"},
	},
	commit: func(s *server, f Fault, _ *request) bool {
		take := holdFile
		if f.variant() == "port" {
			take = holdPort
		}
		held, err := take(s.options.place(f.variant()))
		if err == nil {
			s.held = append(s.held, held) // open for as long as it lives
			return false
		}
		if !errors.Is(err, errTaken) {
			s.cannot(f, err)
			return false
		}
		s.lockedOut(f)
		return true
	},
}

func (s *server) lockedOut(f Fault) {
	why := fmt.Sprintf("the %s is taken by another launch of %s", f.variant(), s.label)
	s.bench.fault(birth.Fault{On: f.On, Do: f.Do, Detail: why, Breaks: true})
	fmt.Fprintln(s.bench.stderr, why)
	s.bench.note(birth.Note{Note: birth.NoteBye, Text: why})
	os.Exit(max(f.Code, 1))
}
