package refhost

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// orphanSet marks what a session leaves behind and lets a sweep kill it: after each tick, from time to time, and at
// the end (hermes-agent#16275). It is as good as its pid ledger: what was never learned is never marked.
type orphanSet struct {
	usual
	sweeping sync.Mutex

	mu      sync.Mutex
	active  map[*connection]bool
	orphans map[*connection]bool
	// parked keeps the clients reachable of whose processes nothing is known. In the field a suspended task does;
	// without it the garbage collector would close the pipes, and a leak would go away at times.
	parked []*connection
}

func makeOrphanSet() *orphanSet {
	return &orphanSet{active: map[*connection]bool{}, orphans: map[*connection]bool{}}
}

func newOrphanSet() disposer {
	o := makeOrphanSet()
	go o.sweepForEver()
	return o
}

// sweepForEver is the gateway's ticker.
func (o *orphanSet) sweepForEver() {
	for range time.Tick(sweepEvery) {
		o.sweep("ticker", false)
	}
}

func (o *orphanSet) started(c *connection) {
	o.mu.Lock()
	o.active[c] = true
	o.mu.Unlock()
}

func (o *orphanSet) ended(c *connection, why ending) {
	if why == orderly {
		c.close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.active, c)
	switch {
	case why == orderly:
	case len(c.learned) == 0:
		o.parked = append(o.parked, c)
	default:
		o.orphans[c] = true
	}
}

func (o *orphanSet) tickEnded() { o.sweep("tick", false) }

func (o *orphanSet) shutdown(current []*connection) {
	inParallel(current, func(c *connection) { o.ended(c, orderly) })
	o.sweep("shutdown", true)
}

// sweep kills the orphans, and the servers of sessions as well where the host is about to end, and waits for them.
func (o *orphanSet) sweep(why string, includeActive bool) {
	o.sweeping.Lock()
	defer o.sweeping.Unlock()
	o.mu.Lock()
	victims := slices.Collect(maps.Keys(o.orphans))
	clear(o.orphans)
	if includeActive {
		for c := range o.active {
			if len(c.learned) > 0 {
				victims = append(victims, c)
			}
		}
	}
	o.mu.Unlock()
	endOrphans(why, victims)
}

// abandon forgets every session that is not closed by request: nobody closes its client, signals its server or waits
// for it (hermes-agent#11202, where the task that owned the client was parked for ever). It is an orphan set that
// learns of no process, and so never has an orphan to sweep.
type abandon struct{ *orphanSet }

func newAbandon() disposer { return abandon{makeOrphanSet()} }

// shutdown leaves the servers to the end of their stdin, which comes when the
// host is gone: its way out does not lead past the teardown.
func (abandon) shutdown([]*connection) {}

// reapAll kills every process of its pid ledger whenever one session ends (hermes-agent#12430): nothing leaks, and
// the servers of the other sessions die with the one that was meant.
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
	endAll(why, slices.Concat(slices.Collect(maps.Values(victims))...))
	inParallel(slices.Collect(maps.Keys(victims)), (*connection).close)
}
