package fakeserver

// banner is what servers print that take stdout for a place to talk on: no
// protocol, colours, an empty line, and one that looks like JSON.
const banner = "leakbench-fakeserver v1.0.0\n" +
	"\x1b[32m[info]\x1b[0m listening on stdio, press ^C to end\n" +
	"\n" +
	`{"level":"info","msg":"ready"}` + "\n"

var bannerAction = action{
	name: "banner", text: "writes lines to stdout that are no protocol, then goes on as it should",
	on:       []string{onStart, onDiscover, onInitialize, onList, onCall, onOrder},
	breaks:   always,
	passable: true,
	commit: func(s *server, _ Fault, _ *request) bool {
		s.say([]byte(banner))
		return false
	},
}
