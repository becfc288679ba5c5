package fakeserver

// The first thread reads stdin. It is the one that /proc shows for the whole
// process, so a deed that keeps the server from reading is done by it: the
// process is then seen busy, asleep or blocked as a server with one thread is.
// It can't be called away from a read; who needs it meanwhile begins alone.

// takeSeat makes f, again and again, all that the server does. It returns only
// where the first thread has taken over from the caller.
func (s *server) takeSeat(f func()) {
	s.instead.Store(&f)
	for !s.seated.Load() {
		f()
	}
}

// leaveSeatTo has the first thread do f, once it is back from its read.
func (s *server) leaveSeatTo(f func()) { s.instead.Store(&f) }

// giveWay is called by the first thread each time it has read something. What
// it has read is then dropped.
func (s *server) giveWay() {
	f := s.instead.Load()
	if f == nil {
		return
	}
	s.seated.Store(true)
	for {
		(*f)()
	}
}
