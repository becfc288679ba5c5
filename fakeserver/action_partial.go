package fakeserver

var partialAction = action{
	name: "partial", text: "writes the beginning of a line and never its end; nothing comes on stdout any more",
	on:      []string{onDiscover, onInitialize, onList, onCall, onOrder},
	decides: true,
	breaks:  always,
	slow:    true,
	commit: func(s *server, _ Fault, r *request) bool {
		before, _ := s.splitLine(r)
		s.onWriteError(s.out.last(before))
		return true
	},
}
