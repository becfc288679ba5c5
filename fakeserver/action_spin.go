package fakeserver

var spinAction = action{
	name: "spin", text: "is busy for ever and does nothing else; on eof: reads the end again and again; on epipe: writes again and again",
	on:       []string{onInitialize, onCall, onEOF, onEPIPE, onOrder},
	decides:  true,
	breaks:   func(on string) bool { return on != onEOF },
	passive:  atEnd,
	seizes:   true,
	silences: onEOF,
	commit: func(s *server, f Fault, _ *request) bool {
		busy := s.busy(f.On)
		if f.On == onOrder {
			go s.takeOver(busy)
			return true
		}
		s.takeOver(busy)
		return true
	},
}

// busy is one turn of the loop that a moment is followed by.
func (s *server) busy(on string) func() {
	switch on {
	case onEOF:
		buf := make([]byte, 1)
		return func() { _, _ = s.in.Read(buf) }
	case onEPIPE:
		line := notification("notifications/message", map[string]any{"level": "error", "data": "stdout is gone"})
		return func() { _ = s.out.force(line) }
	}
	return func() {}
}
