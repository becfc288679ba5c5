package fakeserver

var exitAction = action{
	name: "exit", text: "exits at once, without cleanup, with the status code",
	on:      []string{onStart, onDiscover, onInitialize, onList, onCall, onPing, onEPIPE, onOrder},
	takes:   []string{"code"},
	decides: true,
	breaks:  always,
	commit: func(s *server, f Fault, _ *request) bool {
		s.exit(f.Code)
		return true
	},
}
