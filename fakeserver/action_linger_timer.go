package fakeserver

var lingerTimerAction = action{
	name: "linger-timer", text: "lives on for a timer: its first thread sleeps (nanosleep)",
	on:      []string{onEOF},
	decides: true,
	passive: atEnd,
	commit: func(*server, Fault, *request) bool {
		for {
			nap()
		}
	},
}
