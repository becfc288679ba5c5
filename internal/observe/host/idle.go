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

func isCutOff(l *history.History) bool { return onlyDoubt(l, record.DoubtLedgerNoAccess) != "" }

// onlyDoubt is what the ledger says of servers that could not enter, where no other one could.
func onlyDoubt(l *history.History, code record.DoubtCode) string {
	all := l.Doubts()
	i := slices.IndexFunc(all, func(e *record.Event) bool { return e.Doubt.Code == code })
	if i < 0 || len(l.Servers()) > 0 {
		return ""
	}
	return all[i].Doubt.Text
}

// misstarted is the error of a host that has changed the arguments of all its servers, or nil.
func (r *run) misstarted() error {
	text := under(r, func() string { return onlyDoubt(r.lives, record.DoubtServerArguments) })
	if text == "" {
		return nil
	}
	return fmt.Errorf("%w: it has changed the arguments of its server: %s", observe.ErrHost, text)
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
	if err := r.misstarted(); err != nil {
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
