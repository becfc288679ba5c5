package ledger

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/record"
)

// endWait is how long the next event waits for the process of a server whose
// connection has ended: a connection ends a moment before its process.
const endWait = 250 * time.Millisecond

// inbox is what a peer has sent and the ledger has not reported yet.
type inbox struct {
	held  []byte // the begin of a line
	skip  bool   // the rest of a line that is too long is still to come
	notes []said
	over  bool // the connection has ended
	told  bool // and so has been its end
}

// Drain tells all that the servers have said so far, so that what the bench writes down next stands behind it.
func (l *Ledger) Drain() {
	l.order.Lock()
	defer l.order.Unlock()
	l.drain()
}

// drain is for who holds order. Each server has a connection of its own: what they have said is put in the order in
// which they wrote it, and their deaths come behind that.
func (l *Ledger) drain() {
	l.mu.Lock()
	peers := slices.Collect(maps.Values(l.peers))
	l.mu.Unlock()
	pullAll(peers)
	flush(peers)
	for _, p := range peers {
		if p.over && !p.told && !p.cut.Load() && l.ctx.Err() == nil && p.waitGone(endWait) == nil {
			p.tellEnd("")
			l.forget(p)
		}
	}
}

// mostPasses bounds how often pullAll looks at peers that never stop talking.
const mostPasses = 16

// pullAll takes in what the peers have sent, again and again until nothing is new: between the looks at two of them the first may have
// said what the second one says something because of.
func pullAll(peers []*peer) {
	before := -1
	for range mostPasses {
		got := 0
		for _, p := range peers {
			p.pull()
			got += len(p.notes)
		}
		if got == before {
			return
		}
		before = got
	}
}

func (l *Ledger) forget(p *peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.peers[p.id] == p {
		delete(l.peers, p.id)
	}
}

// flush tells what is in the inboxes of peers, the oldest first. It is for who holds order.
func flush(peers []*peer) {
	for {
		var next *peer
		for _, p := range peers {
			if len(p.notes) > 0 && (next == nil || p.notes[0].at < next.notes[0].at) {
				next = p
			}
		}
		if next == nil {
			return
		}
		e := next.notes[0].event
		next.notes = next.notes[1:]
		next.identified()
		next.tell(e)
	}
}

// identified doubts a peer that lives, since it has said something, and could not be identified: no witness can be called.
func (p *peer) identified() {
	if p.blind != nil {
		p.doubt(record.DoubtLedgerIdentity, fmt.Sprintf("pid %d could not be identified: %v", p.birth.PID, p.blind))
		p.blind = nil
	}
}

// feed cuts what a peer has sent into notes.
func (p *peer) feed(data []byte) {
	for len(data) > 0 {
		part, rest, whole := bytes.Cut(data, []byte("\n"))
		switch {
		case p.skip:
			p.skip = !whole
		case len(p.held)+len(part) > birth.MaxLine:
			p.doubt(record.DoubtLedgerGarbage, lines.ErrTooLong.Error())
			p.held, p.skip = nil, !whole
		default:
			if p.held = append(p.held, part...); whole {
				p.add(bytes.TrimRight(p.held, "\r"))
				p.held = p.held[:0]
			}
		}
		data = rest
	}
}

func (p *peer) add(line []byte) {
	note, err := decodeNote(line)
	if err != nil {
		p.identified()
		p.doubt(record.DoubtLedgerGarbage, err.Error())
		return
	}
	p.notes = append(p.notes, note)
}

// tellsOfOthers says that there is something in the inbox that another one may
// have led to, or the host for the sake of another one.
func (p *peer) tellsOfOthers() bool {
	return p.over || slices.ContainsFunc(p.notes, func(n said) bool {
		return n.event.Kind == record.SawSignal || n.event.Kind == record.SawEOF
	})
}
