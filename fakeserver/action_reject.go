package fakeserver

var rejectAction = action{
	name: "reject", text: "answers with a JSON-RPC error and lives on",
	on:      []string{onDiscover, onInitialize, onList, onCall, onPing},
	decides: true,
	breaks:  atHandshakeOrPing,
	commit: func(s *server, _ Fault, r *request) bool {
		s.refuse(r, codeInternal, "rejected by the script", nil)
		return true
	},
}
