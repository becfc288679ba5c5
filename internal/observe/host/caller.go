package host

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/scenarios"
)

// Caller is a host that is there already: the process of a test, say. The bench neither starts it nor ends it, so what a
// host owes at its own end is not judged. Scenarios for it come from Scenario.Inside.
type Caller struct {
	PID int // 0: this process
	// The driver's side of the driver protocol; nil where the host is not driven: see Begin.
	Stdin  io.WriteCloser
	Stdout io.Reader
}

// allClosed is the name of the checkpoint after a caller's last session.
const allClosed = "all sessions closed"

// attach puts the caller into the host's place.
func (r *run) attach(ctx context.Context) error {
	pid := r.Caller.PID
	if pid == 0 {
		pid = os.Getpid()
	}
	row, err := r.Keeper.Attach(ctx, pid, r.ledger.Path())
	if err != nil {
		return fmt.Errorf("failed to watch process %d: %w", pid, err)
	}
	h := &hostLife{id: row.Identity}
	r.locked(func() { r.host = h })
	row.Args = redact.Args(row.Args)
	r.Emit(record.Event{Kind: record.HostStarted, Process: &row})
	if r.Caller.Stdin == nil {
		r.hello = record.Hello{Host: r.Host.Name, Version: r.Host.Version}
		r.Emit(record.Event{Kind: record.HostReady, Hello: &r.hello})
		return nil
	}
	return r.greet(ctx, r.Caller.Stdout, r.Caller.Stdin)
}

// closeAll ends what a caller has open, in order, and looks at what is left of it.
func (r *run) closeAll(ctx context.Context, checkpoint string) error {
	open := r.sessionsThat(func(s *session) bool { return s.state == record.SessionOpen })
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if err := r.drive(ctx, scenarios.Step{Op: record.OpClose, Session: name}); err != nil {
			return err
		}
	}
	return r.checkpoint(ctx, checkpoint, nil)
}

// launched are the servers of the run: those of a caller are not below the keeper.
func (r *run) launched() (ids []record.Identity) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.lives.Servers() {
		ids = append(ids, s.Birth.Identity)
	}
	return ids
}

// witness is what sees the run, and what it does not see.
func (r *run) witness() record.Witness {
	w := r.Keeper.Hello.Witness
	if r.Caller != nil {
		w.Subreaper, w.Cgroup = false, ""
		w.Weak = append(slices.Clone(w.Weak),
			"the host is the caller's own process: of what its servers orphan only that is seen which has the run in its command line, "+
				"and the host's own end is not")
	}
	return w
}
