package host

import "github.com/leakbench/leakbench/internal/observe/ledger"

// OnLedger lets a test disturb the ledger of a run.
func (p *Params) OnLedger(f func(*ledger.Ledger)) { p.onLedger = f }
