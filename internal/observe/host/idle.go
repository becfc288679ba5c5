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

// isShutOut says that a server could not enter the ledger, and none could.
func isShutOut(l *history.History) bool {
	return onlyDoubt(l, record.DoubtLedgerNoAccess) != "" || onlyDoubt(l, record.DoubtServerArguments) != ""
}

// onlyDoubt is what the ledger says of servers that could not enter, where no other one could.
func onlyDoubt(l *history.History, code record.DoubtCode) string {
	all := l.Doubts()
	i := slices.IndexFunc(all, func(e *record.Event) bool { return e.Doubt.Code == code })
	if i < 0 || len(l.Servers()) > 0 {
		return ""
	}
	return all[i].Doubt.Text
}

// shutOut is why no server of the host could enter the ledger, or nil: it can't be reached, or the host has changed their arguments.
func (r *run) shutOut() error {
	return under(r, func() error {
		if onlyDoubt(r.lives, record.DoubtLedgerNoAccess) != "" {
			return errCutOff
		}
		if text := onlyDoubt(r.lives, record.DoubtServerArguments); text != "" {
			return fmt.Errorf("%w: it has changed the arguments of its server: %s", observe.ErrHost, text)
		}
		return nil
	})
}

// idleOpens is how many sessions may fail to open before it is said that the host launches nothing: what is wrong is
// how it is started, and the rest of the scenario would show nothing else, slowly.
const idleOpens = 3

// idle takes note of a session that should have opened and did not. It is an
// error once the host has launched no server at all for several of them.
func (r *run) idle(ctx context.Context, failed error) error {
	if err := r.shutOut(); err != nil {
		return err
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
