package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/record"
)

// Census is what the keeper sees of the run now.
func (o *Observer) Census(ctx context.Context) (*record.Census, error) {
	var known []record.Identity
	if o.params.Known != nil {
		known = o.params.Known()
	}
	c, err := o.Keeper.Census(ctx, known...)
	switch {
	case err == nil:
		return c, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("failed to take a census: %w", err)
}

// Loaded is a census with what the bench and the processes in it had of the processors.
func (o *Observer) Loaded(ctx context.Context) (*record.Census, error) {
	c, err := o.Census(ctx)
	if err == nil {
		c.Load = o.loads.At(c)
	}
	return c, err
}

// EmitCensus writes down a census that was taken for a reason, perhaps at a checkpoint.
func (o *Observer) EmitCensus(role record.CensusRole, checkpoint string, c *record.Census) {
	c.Role, c.Checkpoint = role, checkpoint
	o.Emit(record.Event{Kind: record.CensusTaken, Census: c})
}

// Evidence examines processes, and writes down what was found.
func (o *Observer) Evidence(ctx context.Context, ids []record.Identity) ([]record.Evidence, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := o.Examine(ctx, ids)
	if len(found) > 0 {
		o.Emit(record.Event{Kind: record.EvidenceTaken, Evidence: found})
	}
	return found, err
}

// Examine is what can be found out about processes, with the names of those that hold the other ends of their descriptors; nil where
// nothing can, which a doubt says.
func (o *Observer) Examine(ctx context.Context, ids []record.Identity) ([]record.Evidence, error) {
	found, err := o.Keeper.Evidence(ctx, ids)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !errors.Is(err, keeper.ErrGone) {
			o.Doubt(record.DoubtNoEvidence, "the survivors could not be examined: %v", err)
		}
		return nil, nil
	}
	roles := map[record.Identity]record.HolderRole{}
	if o.params.Roles != nil {
		maps.Copy(roles, o.params.Roles())
	}
	roles[o.Keeper.Hello.Identity] = record.RoleKeeper
	for i := range found {
		if role, ok := roles[found[i].Identity]; ok {
			found[i].Server = cmp.Or(role.Server(), string(role))
		}
		for _, d := range found[i].Descriptors {
			for j := range d.Holders {
				name(&d.Holders[j], roles)
			}
		}
	}
	return found, nil
}

// name says who holds the other end of a descriptor, where that is known.
func name(h *record.Holder, roles map[record.Identity]record.HolderRole) {
	if role, ok := roles[h.Identity]; ok {
		h.Role = role
	} else if h.PID == os.Getpid() {
		h.Role = record.RoleBench
	}
}
