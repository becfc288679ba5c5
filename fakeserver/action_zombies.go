package fakeserver

import "os"

// zombiesAction leaves dead children of the server unwaited for. They are gone
// when the server is, and until then only the server can end them.
var zombiesAction = action{
	name: "zombies", text: "starts (count) children that exit at once, and never waits for them",
	on:    []string{onStart, onCall, onOrder},
	takes: []string{"count"},
	commit: func(s *server, f Fault, _ *request) bool {
		for range max(f.Count, 1) {
			p, err := start(s.options.helper(helperExits), [3]*os.File{}, sameGroup)
			if err != nil {
				s.cannot(f, err)
				break
			}
			awaitExit(p.Pid)
			_ = p.Release()
		}
		return false
	},
}
