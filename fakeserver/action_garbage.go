package fakeserver

var garbageAction = action{
	name: "garbage", text: "writes a line that is no JSON instead of the answer; on order: unasked",
	on:      []string{onDiscover, onInitialize, onList, onCall, onPing, onOrder},
	decides: true,
	breaks:  atHandshakeOrPing,
	commit: func(s *server, _ Fault, _ *request) bool {
		s.say([]byte("Traceback (most recent call last): this is no JSON-RPC {]\n"))
		return true
	},
}
