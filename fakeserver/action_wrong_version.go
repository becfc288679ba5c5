package fakeserver

// unknownVersion is a protocol version that no client can know.
const unknownVersion = "1999-12-31"

var wrongVersionAction = action{
	name: "wrong-version", text: "answers with the protocol version " + unknownVersion + " (discover: knows no other from then on)",
	on:      []string{onDiscover, onInitialize},
	decides: true,
	breaks:  atHandshake,
	commit: func(s *server, f Fault, r *request) bool {
		if f.On == onInitialize {
			s.answer(r, s.initialized(unknownVersion))
			return true
		}
		s.modernVersions.Store(&[]string{unknownVersion})
		s.answer(r, s.discovered())
		return true
	},
}
