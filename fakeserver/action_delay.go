package fakeserver

import "time"

var delayAction = action{
	name: "delay", text: "waits (for) first, then goes on as it should",
	on:    []string{onStart, onDiscover, onInitialize, onList, onCall, onPing, onEOF, onTerm, onExit},
	needs: "for",
	// A host may take a server that is late with a ping for dead.
	breaks:   func(on string) bool { return on == onPing },
	passable: true,
	slow:     true,
	commit: func(s *server, f Fault, r *request) bool {
		if r != nil {
			return !s.wait(time.Duration(f.For), r)
		}
		<-time.After(time.Duration(f.For))
		return false
	},
}
