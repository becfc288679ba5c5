package ledger

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/record"
)

// maxEarly caps what a launcher may say before its server is born, in lines.
const maxEarly = 16

// launcher serves the connection of a launcher to its end. The run file
// does not mention it: no ledger line covers what the census sees of it.
func (p *peer) launcher(label string, script json.RawMessage) {
	p.l.births.Lock()
	launch := p.l.nextLaunch(label)
	server := serverID(label, launch)
	p.l.reserved[server] = nil
	p.l.births.Unlock()
	_ = p.send(birth.Welcome{Launch: launch, Seed: p.l.p.Seed, Script: script})
	for {
		line, err := p.lines.Next()
		if errors.Is(err, lines.ErrTooLong) {
			p.doubt(record.DoubtLedgerGarbage, err.Error())
			continue
		}
		if err != nil {
			return
		}
		p.l.births.Lock()
		if early, unborn := p.l.reserved[server]; unborn && len(early) < maxEarly {
			p.l.reserved[server] = append(early, bytes.Clone(line))
		}
		p.l.births.Unlock()
		// It starts the server when it has this: only then is its word sure to be there before the birth.
		_ = p.send(birth.Order{Do: json.RawMessage("null")})
	}
}

// helper holds the connection of a helper, or of a twin, until either side ends. What it says is of no interest.
func (p *peer) helper() {
	_ = p.send(birth.Welcome{})
	for {
		if _, err := p.lines.Next(); err != nil && !errors.Is(err, lines.ErrTooLong) {
			return
		}
	}
}
