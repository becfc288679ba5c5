package fakeserver

import "runtime"

var lingerThreadAction = action{
	name: "linger-thread", text: "lives on for another thread: its first one waits for that to end (futex)",
	on:      []string{onEOF},
	decides: true,
	passive: atEnd,
	commit: func(*server, Fault, *request) bool {
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // a thread that belongs to nobody else
			for {
				nap()
			}
		}()
		<-done
		return true
	},
}
