package fakeserver

func garbageDeed() deed {
	return deed{
		name: "garbage", text: "writes a line that is no JSON instead of the answer",
		on:      []string{onDiscover, onInitialize, onList, onCall},
		decides: true,
		breaks:  atHandshake,
		commit: func(s *server, _ Fault, _ *request) bool {
			s.out.line([]byte("Traceback (most recent call last): this is no JSON-RPC {]\n"))
			return true
		},
	}
}
