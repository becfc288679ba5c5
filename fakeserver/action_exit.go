package fakeserver

import "os"

var exitAction = action{
	name: "exit", text: "exits at once, without cleanup, with the status code",
	on:      []string{onStart, onDiscover, onInitialize, onList, onCall, onPing, onEPIPE, onOrder},
	takes:   []string{"code"},
	decides: true,
	breaks:  always,
	commit: func(_ *server, f Fault, _ *request) bool {
		os.Exit(f.Code)
		return true
	},
}
