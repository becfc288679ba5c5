package fakeserver

import "os"

// zombiesDeed leaves dead children of the server unwaited for. They are gone
// when the server is, and until then only the server can end them.
func zombiesDeed() deed {
	return deed{
		name: "zombies", text: "starts (count) children that exit at once, and never waits for them",
		on:     []string{onStart, onCall, onOrder},
		counts: true,
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
}
