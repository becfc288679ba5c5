package ledger

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/stage/birth"
)

// maxEarly caps what a launcher may say before its server is born, in lines.
const maxEarly = 16

// reservation is a launch number that a launcher holds for its server, and
// what it said of the launch. It is guarded by Ledger.births.
type reservation struct{ early [][]byte }

// tell notes for the newborn server what its launcher announced: the faults of
// the launch are the server's, and are committed before it is born.
func (r *reservation) tell(p *peer) {
	if r == nil {
		return
	}
	for _, line := range r.early {
		p.take(line)
	}
}

// launcher serves the connection of a launcher to its end. It is not told of
// in the run file: what the census sees of it, no ledger line covers.
func (p *peer) launcher(label string, script json.RawMessage) {
	r := &reservation{}
	p.l.births.Lock()
	launch := p.l.nextLaunch(label)
	p.l.reserved[serverID(label, launch)] = r
	p.l.births.Unlock()
	_ = p.send(birth.Welcome{Launch: launch, Seed: p.l.p.Seed, Script: script})
	for line := range p.words {
		p.l.births.Lock()
		if len(r.early) < maxEarly {
			r.early = append(r.early, bytes.Clone(line))
		}
		p.l.births.Unlock()
		// It starts the server when it has this: only then is its word sure to
		// be there before the birth.
		_ = p.send(birth.Order{Do: json.RawMessage("null")})
	}
}

// helper holds the connection of a helper, or of a twin, until either side ends. What it
// says is of no interest.
func (p *peer) helper() {
	_ = p.send(birth.Welcome{})
	for {
		if _, err := p.lines.Next(); err != nil && !errors.Is(err, lines.ErrTooLong) {
			return
		}
	}
}
