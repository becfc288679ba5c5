package fakeserver

import "os/signal"

var ignoreTermAction = action{
	name: "ignore-term", text: "has the kernel ignore SIGTERM, SIGINT and SIGHUP from then on (SIG_IGN): it never hears of one",
	on:       []string{onStart, onEOF, onOrder},
	silences: onTerm,
	commit: func(*server, Fault, *request) bool {
		for sig := range asking {
			signal.Ignore(sig)
		}
		return false
	},
}
