package fakeserver

import "fmt"

var writeAction = action{
	name: "write", text: "writes one more line to stdout, survives that nobody reads it, and says in its last words what came of it (EPIPE)",
	on: []string{onEOF, onTerm, onExit},
	commit: func(s *server, f Fault, _ *request) bool {
		err := s.out.force(notification("notifications/message", map[string]any{"level": "info", "data": "one more line"}))
		words := fmt.Sprintf("a line written on %s was taken", f.On)
		switch {
		case isBrokenPipe(err):
			words = fmt.Sprintf("a line written on %s met EPIPE", f.On)
		case err != nil:
			words = fmt.Sprintf("a line written on %s failed: %v", f.On, err)
		}
		s.lastWords.Store(&words)
		s.onWriteError(err)
		return false
	},
}
