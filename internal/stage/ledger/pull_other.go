//go:build !unix

package ledger

import (
	"errors"

	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/record"
)

// listen tells what the peer says, until its connection ends.
func (p *peer) listen() {
	for {
		line, err := p.lines.Next()
		tooLong := errors.Is(err, lines.ErrTooLong)
		if err != nil && !tooLong {
			return
		}
		p.l.order.Lock()
		if tooLong {
			p.doubt(record.DoubtLedgerGarbage, err.Error())
		} else {
			p.add(line)
			flush([]*peer{p})
		}
		p.l.order.Unlock()
	}
}

// pull does nothing: there is no reading without waiting here.
func (p *peer) pull() {}
