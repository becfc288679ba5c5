package host

import (
	"context"
	"slices"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
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

// confirm gathers the evidence on the survivors and watches them on: one that goes after all is late, one that stays is leaked. Where
// the user wants no more waiting, nobody will know.
func (r *run) confirm(ctx context.Context, cp *record.Checkpoint, w *watch, s *state) error {
	if _, err := r.Evidence(ctx, s.survivors()); err != nil {
		return err
	}
	limit := r.limits.Confirm.D()
	switch {
	case cp.Early != "":
	case r.knows(s):
		cp.Early = record.EarlyWaited
	case w.fast != nil && len(s.missing) == 0 && r.unknown(s).right():
		cp.Early = record.EarlyFast // an earlier checkpoint has given it up
	}
	if cp.Early == record.EarlyFast {
		r.remember(cp, s)
		return nil
	}
	if cp.Early != "" {
		limit = min(limit, patience.Watch)
	}
	w.settled, w.more = true, 0
	_, s, err := r.settle(ctx, cp, w, limit)
	if err != nil {
		return err
	}
	r.EmitCensus(record.CensusConfirm, cp.Name, s.census)
	r.remember(cp, s)
	return nil
}

// remember notes what need not be waited for again. What was given up early was not watched in full.
func (r *run) remember(cp *record.Checkpoint, s *state) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range s.survivors() {
		r.known[id], r.waited[id] = true, r.waited[id] || cp.Early != record.EarlyFast
	}
	for _, want := range s.missing {
		r.missed[want.Label+"\x00"+want.Session] = true
	}
}

// isFinal says that nothing can change any more in what the host has left behind.
func (r *run) isFinal(cp *record.Checkpoint, s *state) bool {
	if !cp.HostGone || len(s.extra) == 0 || len(s.zombies) > 0 || s.unclear {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return patience.IsFinal(r.lives, s.census, r.ID)
}

// knows says that all that should not be there was waited for, and watched in full, at an earlier checkpoint.
func (r *run) knows(s *state) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := !slices.ContainsFunc(s.survivors(), func(id record.Identity) bool { return !r.waited[id] })
	return known && len(s.missing) == 0 && !s.unclear
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

// roles are those of the processes that a survivor may share a pipe with.
func (r *run) roles() map[record.Identity]record.HolderRole {
	r.mu.Lock()
	defer r.mu.Unlock()
	roles := map[record.Identity]record.HolderRole{r.host.id: record.RoleHost}
	for _, s := range r.lives.Servers() {
		roles[s.Birth.Identity] = record.RoleServer(s.ID)
	}
	return roles
}

// left is what is known of what a keeper that has died has left. The servers are those that the ledger knows.
func (r *run) left() keeper.Left {
	left := keeper.Left{Host: r.current().id, Attached: r.Caller != nil, Knows: r.wasBelow}
	for _, s := range r.alive() {
		left.Servers = append(left.Servers, s.Birth.Identity)
	}
	return left
}

// wasBelow says that a census of the keeper's has seen the process, or the ledger.
func (r *run) wasBelow(id record.Identity) bool {
	return under(r, func() bool { return r.lives.Knows(id) })
}
