package fakeserver

var closeStdoutAction = action{
	name: "close-stdout", text: "closes its stdout, and lives on reading stdin",
	on:      []string{onInitialize, onCall, onOrder},
	decides: true,
	breaks:  always,
	commit: func(s *server, _ Fault, _ *request) bool {
		s.out.close()
		return true
	},
}
