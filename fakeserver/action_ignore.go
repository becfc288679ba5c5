package fakeserver

var ignoreAction = action{
	name: "ignore", text: "lives on, idle; on term: the signal is caught, and nothing is done about it",
	on:      []string{onEOF, onTerm},
	decides: true,
	passive: atEnd,
	commit:  func(*server, Fault, *request) bool { return true },
}
