package runner

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/patience"
)

// forgetAtHostEnd has the survivors waited for once more after the host's end:
// what leaked below a living host may still go with it.
func (r *run) forgetAtHostEnd(gone bool) {
	if !gone || r.forgot {
		return
	}
	r.forgot = true
	clear(r.known)
	clear(r.missed)
}

// confirm gathers the evidence on the survivors and watches them on: one that goes after all is late, one that stays is leaked.
func (r *run) confirm(ctx context.Context, cp *record.Checkpoint, s *state) error {
	if err := r.evidence(ctx, s.survivors()); err != nil {
		return err
	}
	limit := r.limits.Confirm.D()
	if r.knows(s) && cp.Early == "" {
		cp.Early = record.EarlyWaited
	}
	if cp.Early != "" {
		limit = min(limit, patience.Watch)
	}
	_, s, err := r.settle(ctx, cp, limit, r.limits.Quiet.D())
	if err != nil {
		return err
	}
	r.emitCensus(record.CensusConfirm, cp.Name, s.census)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range s.survivors() {
		r.known[id], r.waited[id] = true, true
	}
	for _, want := range s.missing {
		r.missed[want.Label+"\x00"+want.Session] = true
	}
	return nil
}

// isFinal says that nothing can change any more in what the host has left behind.
func (r *run) isFinal(cp *record.Checkpoint, s *state) bool {
	if !cp.HostGone || len(s.extra) == 0 || len(s.zombies)+len(s.unclear) > 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return patience.IsFinal(r.lives, s.census, r.id)
}

// knows says that all that should not be there was waited for, and watched in full, at an earlier checkpoint.
func (r *run) knows(s *state) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := !slices.ContainsFunc(s.survivors(), func(id record.Identity) bool { return !r.waited[id] })
	return known && len(s.missing)+len(s.unclear) == 0
}

// unknown leaves out what an earlier checkpoint has waited for.
func (r *run) unknown(all *state) *state {
	known := func(id record.Identity) bool { return r.known[id] }
	return &state{
		census:  all.census,
		extra:   slices.DeleteFunc(slices.Clone(all.extra), known),
		zombies: slices.DeleteFunc(slices.Clone(all.zombies), known),
		missing: slices.DeleteFunc(slices.Clone(all.missing), func(w record.Want) bool {
			return r.missed[w.Label+"\x00"+w.Session]
		}),
		unclear: all.unclear,
	}
}

// evidence examines survivors and names who holds the other ends of their descriptors.
func (r *run) evidence(ctx context.Context, ids []record.Identity) error {
	if len(ids) == 0 {
		return nil
	}
	found, err := r.examine(ctx, ids)
	if len(found) > 0 {
		r.emit(record.Event{Kind: record.EvidenceTaken, Evidence: found})
	}
	return err
}

// examine is what can be found out about processes; nil where nothing can, which a doubt says.
func (r *run) examine(ctx context.Context, ids []record.Identity) ([]record.Evidence, error) {
	found, err := r.keeper.Evidence(ctx, ids)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.Is(err, keeper.ErrGone) {
			r.doubt(record.DoubtNoEvidence, "the survivors could not be examined: %v", err)
		}
		return nil, nil
	}
	var names map[record.Identity]record.HolderRole
	r.locked(func() {
		names = map[record.Identity]record.HolderRole{r.host.id: record.RoleHost, r.keeper.Hello.Identity: record.RoleKeeper}
		for _, s := range r.lives.Servers() {
			names[s.Birth.Identity] = record.RoleServer(s.ID)
		}
	})
	for i := range found {
		if name, ok := names[found[i].Identity]; ok {
			found[i].Server = cmp.Or(name.Server(), string(name))
		}
		for _, d := range found[i].Descriptors {
			for j, h := range d.Holders {
				if name, ok := names[h.Identity]; ok {
					d.Holders[j].Role = name
				} else if h.PID == os.Getpid() {
					d.Holders[j].Role = record.RoleBench
				}
			}
		}
	}
	return found, nil
}

// sweep kills what is left below the keeper and writes down what that was.
func (r *run) sweep(ctx context.Context) {
	swept, err := r.keeper.Sweep(ctx)
	r.emitSwept(swept)
	if errors.Is(err, keeper.ErrGone) {
		r.sweepWithoutKeeper() // the doubt is in the file
		return
	}
	if err != nil {
		r.doubt(record.DoubtSweep, "the final sweep could not end every process: %v", err)
	}
}

// sweepWithoutKeeper ends what the keeper would have ended. The servers are those that the ledger knows.
func (r *run) sweepWithoutKeeper() {
	left := keeper.Left{Host: r.current().id, Knows: r.wasBelow}
	for _, s := range r.alive() {
		left.Servers = append(left.Servers, s.Birth.Identity)
	}
	swept, err := r.keeper.SweepInItsPlace(left)
	r.emitSwept(swept)
	if err != nil {
		r.doubt(record.DoubtSweep, "processes that the keeper left could not be ended: %v", err)
	}
}

func (r *run) emitSwept(swept []record.Process) {
	if len(swept) > 0 {
		r.emit(record.Event{Kind: record.Swept, Census: &record.Census{Processes: swept}})
	}
}

// wasBelow says that a census of the keeper's has seen the process, or the ledger.
func (r *run) wasBelow(id record.Identity) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lives.Knows(id)
}
