package refhost

import (
	"maps"
	"slices"
	"sync"
)

// reapAll kills every process of its pid ledger whenever one session ends
// (hermes-agent#12430): nothing leaks, and the servers of the other sessions
// die with the one that was meant.
type reapAll struct {
	usual
	mu     sync.Mutex
	ledger map[*connection][]child
}

func newReapAll() disposer { return &reapAll{ledger: map[*connection][]child{}} }

func (r *reapAll) started(c *connection) {
	r.mu.Lock()
	r.ledger[c] = c.learned
	r.mu.Unlock()
}

func (r *reapAll) ended(c *connection, why ending) {
	if why == orderly {
		c.close()
	}
	r.reap("session " + c.session + " " + string(why))
	c.close()
}

func (r *reapAll) shutdown(current []*connection) {
	inParallel(current, (*connection).close)
	r.reap("shutdown")
}

// reap empties the ledger.
func (r *reapAll) reap(why string) {
	r.mu.Lock()
	victims := r.ledger
	r.ledger = map[*connection][]child{}
	r.mu.Unlock()
	kill(why, slices.Concat(slices.Collect(maps.Values(victims))...), reapGrace)
	inParallel(slices.Collect(maps.Keys(victims)), (*connection).close)
}
