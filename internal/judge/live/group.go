package live

import (
	"cmp"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/lists"
)

const (
	// pause is how long nothing of a command line is used before the next of its generations is launched. What is launched while,
	// or right after, another one shakes hands is one batch with it: a pool is filled like that, one server after the other.
	pause = 250 * time.Millisecond
	// together is how far apart the launches of one batch are that are used side by side.
	together = time.Second
	// seenReplaced is how many generations must have been replaced where two of them were while the host was watched.
	seenReplaced, seenLive = 3, 2
	// pileReplaced is how many launches must have been replaced where nobody saw it. A host with some sessions of which only the
	// newest is used looks the same, and is no leak.
	pileReplaced = 10
	// forEachParallel is how many more for each older server that the host is seen to use beside a newer one: such a host has several
	// sessions, and idle ones are nothing odd.
	forEachParallel = 10
)

// groups puts the units together that have one command line, and numbers their generations.
func (w *Watch) groups(units []*Unit) []*Group {
	_, byLine := lists.GroupBy(units, func(u *Unit) string { return u.line })
	groups := []*Group{}
	for _, members := range byLine {
		slices.SortFunc(members, func(a, b *Unit) int { return cmp.Compare(a.Born, b.Born) })
		g := &Group{Label: members[0].Label, Command: members[0].Members[0].Args, units: members}
		for i, u := range members {
			u.group = g
			if i == 0 || u.Born > members[i-1].Quiet+int64(pause) {
				g.Generations++
			}
			u.Generation = g.Generations
			for _, o := range members[i+1:] {
				if u.QuietKnown && o.Born > u.Quiet+int64(pause) {
					u.Newer++
				}
			}
			if u.Alive() {
				g.Alive++
				if u.Used {
					g.Used++
				}
			}
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.units[0].Born, b.units[0].Born), cmp.Compare(a.Label, b.Label))
	})
	return groups
}

// superseded are the units that the host has stopped using before it launched a newer one, which it uses; why says why none can be
// named although some are idle.
func (g *Group) superseded(w *Watch) (found []*Unit, why string) {
	idle := g.replaced(w)
	if keep := w.resident; keep > 0 {
		idle = idle[:max(0, len(idle)-keep)] // the newest ones are kept on purpose
	}
	if len(idle) == 0 {
		return nil, ""
	}
	generations, live := map[int]bool{}, 0
	for _, u := range idle {
		generations[u.Generation] = true
	}
	for i, u := range g.units { // a generation that came while somebody looked
		if i > 0 && u.Born > w.from && u.Generation != g.units[i-1].Generation {
			live++
		}
	}
	parallel := g.parallel()
	most := pileReplaced
	if live >= seenLive {
		most = seenReplaced
	}
	if len(generations) < seenReplaced || len(idle) < most+forEachParallel*parallel {
		return nil, "they may have sessions of their own"
	}
	return idle, ""
}

// replaced are the units that are idle for longer than the settle time, and for longer than the host lets others be idle before it
// ends them, and that were used last before one was launched that is used now. They are in the order of their births.
func (g *Group) replaced(w *Watch) (idle []*Unit) {
	least := int64(w.limits.Settle)
	for _, u := range g.units {
		if died := u.died(); died != never && u.QuietKnown {
			least = max(least, 2*(died-u.Quiet))
		}
	}
	for _, u := range g.units {
		if !u.Alive() || !u.QuietKnown || w.to-u.Quiet < least || u.top().Stdin != HeldByHost {
			continue
		}
		if slices.ContainsFunc(g.units, func(o *Unit) bool { return o.Used && o.Born > u.Quiet+int64(pause) }) {
			idle = append(idle, u)
		}
	}
	return idle
}

// parallel is how many units were used after a newer generation was launched, which was no part of the same batch.
func (g *Group) parallel() (n int) {
	for i, u := range g.units {
		if slices.ContainsFunc(g.units[i+1:], func(o *Unit) bool {
			return o.Born > u.Born+int64(together) && u.Quiet > o.Born+int64(together)
		}) {
			n++
		}
	}
	return n
}
