package refhost

import "sync"

// abandon forgets every session that is not closed by request: nobody closes
// its client, signals its server or waits for it (hermes-agent#11202, where
// the task that owned the client was parked for ever).
type abandon struct {
	usual
	mu sync.Mutex
	// parked keeps the clients reachable. In the field a suspended task does;
	// without it the garbage collector would close the pipes, and a leak would
	// go away at times.
	parked []*connection
}

func newAbandon() disposer { return &abandon{} }

func (a *abandon) ended(c *connection, why ending) {
	if why == orderly {
		c.close()
		return
	}
	a.mu.Lock()
	a.parked = append(a.parked, c)
	a.mu.Unlock()
}

// shutdown leaves the servers to the end of their stdin, which comes when the
// host is gone: its way out does not lead past the teardown.
func (*abandon) shutdown([]*connection) {}
