package fakeserver

var lingerSocketAction = action{
	name: "linger-socket", text: "lives on for a listening socket: its first thread waits for a connection (epoll)",
	on:      []string{onEOF},
	decides: true,
	passive: atEnd,
	commit: func(*server, Fault, *request) bool {
		awaitConnection()
		park() // there is no socket to be had, which keeps nobody from staying
		return true
	},
}
