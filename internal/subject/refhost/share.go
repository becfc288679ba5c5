package refhost

import (
	"context"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/driver"
)

// entry is a server entry of the configuration, with the one connection that all its sessions have.
type entry struct {
	mu sync.Mutex // held while it is connected
	c  *connection
}

// Share connects a session to an entry. A host that shares makes one connection for all sessions of an entry; the others
// make one for each session.
func (h *host) Share(ctx context.Context, session string, s driver.Server) error {
	if h.entries == nil {
		return h.Open(ctx, session, s)
	}
	e := h.entryOf(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.c == nil || e.c.over() {
		ctx, done := h.whileAlive(ctx)
		defer done()
		c, err := h.connect(ctx, s.Name, s, initialRetries)
		if err != nil {
			return err
		}
		c.entry, c.first = true, session
		e.c = c
	}
	return h.keep(session, e.c)
}

func (h *host) entryOf(s driver.Server) *entry {
	key := strings.Join(append([]string{s.Command}, s.Args...), "\x00")
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.entries[key]
	if e == nil {
		e = &entry{}
		h.entries[key] = e
	}
	return e
}

// over says that the server was waited for.
func (c *connection) over() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}
