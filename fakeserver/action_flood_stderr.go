package fakeserver

import (
	"bytes"
	"cmp"
)

// floodStderr is how much is written, in MiB, where the script says nothing:
// many times what a pipe holds (64 KiB, pipe(7)).
const floodStderr = 1

var floodStderrAction = action{
	name: "flood-stderr", text: "writes mib MiB (1) to stderr, and waits for as long as nobody reads it, then goes on as it should",
	on:     []string{onStart, onDiscover, onInitialize, onList, onCall, onEOF, onOrder},
	takes:  []string{"mib"},
	seizes: true,
	commit: func(s *server, f Fault, _ *request) bool {
		mib := cmp.Or(f.MiB, floodStderr)
		if f.On == onOrder {
			go s.flood(mib) // orders go on to be heard
			return true
		}
		s.flood(mib)
		return false
	},
}

func (s *server) flood(mib int) {
	const text = "WARN leakbench-fakeserver: nobody reads this, or somebody does ..\n"
	chunk := bytes.Repeat([]byte(text), mebi/len(text)+1)[:mebi]
	chunk[mebi-1] = '\n'
	for range mib {
		if _, err := s.bench.stderr.Write(chunk); err != nil {
			return
		}
	}
}
