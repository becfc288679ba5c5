package fakeserver

var stopReadingAction = action{
	name: "stop-reading", text: "never reads stdin again, not even its end, and does not answer; on order: from the next line on",
	on:       []string{onDiscover, onInitialize, onList, onCall, onOrder},
	decides:  true,
	breaks:   always,
	seizes:   true,
	silences: onEOF,
	commit: func(s *server, f Fault, _ *request) bool {
		if f.On != onOrder {
			park()
		}
		s.handOver(park)
		return true
	},
}

// park waits for ever.
func park() { select {} }
