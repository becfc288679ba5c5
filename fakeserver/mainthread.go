package fakeserver

// The first thread reads stdin. It is the one that /proc shows for the whole
// process, so an action that keeps the server from reading is done by it: the
// process is then seen busy, asleep or blocked as a server with one thread is.
// It can't be called away from a read; who needs it meanwhile begins alone.

// takeOver makes f, again and again, all that the server does. It returns only
// where the first thread has taken over from the caller.
func (s *server) takeOver(f func()) {
	s.instead.Store(&f)
	for !s.takenOver.Load() {
		f()
	}
}

// handOver has the first thread do f, once it is back from its read.
func (s *server) handOver(f func()) { s.instead.Store(&f) }

// giveWay is called by the first thread each time it has read something. What
// it has read is then dropped.
func (s *server) giveWay() {
	f := s.instead.Load()
	if f == nil {
		return
	}
	s.takenOver.Store(true)
	for {
		(*f)()
	}
}
