package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
)

// errCutOff says that no server of the host can reach the ledger: the doubt in the file says whose process that is,
// and why. The rest of the scenario would show nothing else.
var errCutOff = errors.New("the host's servers can't reach the ledger")

// cutOff says that a server could not reach the ledger, and none could.
func (r *run) cutOff() bool { return under(r, func() bool { return isCutOff(r.lives) }) }

func isCutOff(l *history.History) bool {
	noAccess := func(e *record.Event) bool { return e.Doubt.Code == record.DoubtLedgerNoAccess }
	return len(l.Servers()) == 0 && slices.ContainsFunc(l.Doubts(), noAccess)
}

// idleOpens is how many sessions may fail to open before it is said that the host launches nothing: what is wrong is
// how it is started, and the rest of the scenario would show nothing else, slowly.
const idleOpens = 3

// idle takes note of a session that should have opened and did not. It is an
// error once the host has launched no server at all for several of them.
func (r *run) idle(ctx context.Context, failed error) error {
	if r.cutOff() {
		return errCutOff
	}
	var give bool
	r.locked(func() {
		r.unopened++
		give = r.unopened >= idleOpens && len(r.lives.Servers()) == 0
	})
	if !give {
		return nil
	}
	return fmt.Errorf("%w: it has launched no server: %d sessions could not be opened, the last one with %q%s",
		observe.ErrHost, idleOpens, failed.Error(), r.lastWords(ctx))
}
