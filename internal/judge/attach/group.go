package attach

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// pause is how long nothing of a command line is used before the next of its generations is launched. What is launched while,
	// or right after, another one shakes hands is one batch with it: a pool is filled like that, one server after the other.
	pause = 250 * time.Millisecond
	// worksFor is how long a server is used beyond its handshake before the next one is launched, where they are no batch although
	// there is no pause between them: a host that reconnects by the clock launches the next one in the middle of a session.
	worksFor = 500 * time.Millisecond
	// leastWorking is how many servers must have been seen at that, from their birth. A pool of servers that are slow to come up, and
	// write to stderr meanwhile, looks much the same.
	leastWorking = 3
	// handover is how long after the launch of the next one the use of a server may be seen: looks are a second apart.
	handover = 1500 * time.Millisecond
	// together is how far apart the launches of one batch are that are used side by side.
	together = time.Second
	// fresh is how long after its launch a server that got no call yet is not called idle.
	fresh = 3 * time.Second
	// leastReplaced is how many launches must have been replaced, in at least leastGenerations. A host with some sessions of which
	// only the newest is used looks the same, and is no leak.
	leastReplaced, leastGenerations = 10, 3
	// forEachParallel is how many more for each older server that the host is seen to use beside a newer one: such a host has several
	// sessions, and idle ones are nothing odd.
	forEachParallel = 10
)

// groups puts the units together that have one command line, and numbers their generations.
func (w *Watch) groups(units []*Unit) []*Group {
	_, byLine := lists.GroupBy(units, func(u *Unit) string { return u.line })
	groups := []*Group{}
	for _, members := range byLine {
		g := &Group{Label: members[0].Label, Command: members[0].Members[0].Args, Shell: members[0].shell, units: members}
		g.number(w.from)
		g.count(w)
		groups = append(groups, g)
	}
	for _, g := range groups {
		if slices.ContainsFunc(groups, func(o *Group) bool { return o != g && o.Label == g.Label }) {
			g.Like = g.oldest().PID
		}
	}
	slices.SortFunc(groups, func(a, b *Group) int {
		return cmp.Or(cmp.Compare(a.units[0].Born, b.units[0].Born), cmp.Compare(a.Label, b.Label))
	})
	return groups
}

// count counts what became of what was launched below the host. Used is what the host uses now: what it has used at some time of a
// watch says little of a long one.
func (g *Group) count(w *Watch) {
	least := g.idleFor(w)
	g.IdleAfter = record.Duration(least)
	for _, u := range g.units {
		u.Used = u.talked && w.to-u.Quiet < least
		switch {
		case u.stray():
		case !u.Alive() && slices.ContainsFunc(u.Members, func(ch *Child) bool { return ch.died == never }):
			g.Zombies++
		case !u.Alive():
			g.Ended++
		default:
			g.Alive++
			if u.Used {
				g.Used++
			}
		}
	}
}

// number numbers the generations of a command line.
func (g *Group) number(from int64) {
	handshake, known := g.handshake(from)
	for i, u := range g.units {
		u.group = g
		u.worked = known && u.usedUntil() > u.Born+handshake+int64(worksFor)
		if i == 0 || g.units[i-1].worked || u.Born > g.units[i-1].Quiet+int64(pause) {
			g.Generations++
		}
		u.Generation = g.Generations
	}
	for _, u := range g.units {
		u.next = g.after(u)
		u.Newer = len(g.units) - u.next
	}
}

// handshake is how long a server of this command line takes until it has written something, at the most: the least time after which
// a look has shown that of one which came while somebody looked. It is known where such servers were seen to work beyond it.
func (g *Group) handshake(from int64) (least int64, known bool) {
	working := 0
	for _, u := range g.units {
		spoke := u.spoke()
		if u.Born <= from || spoke == never || !slices.ContainsFunc(u.Members, (*Child).works) {
			continue
		}
		if took := spoke - u.Born; working == 0 || took < least {
			least = took
		}
		working++
	}
	return least, working >= leastWorking
}

// after is the first unit of a later generation that was launched after the last use of another one: after a pause, or, where that had
// worked, in the middle of its use. All units behind it were, too: they are in the order of their births.
func (g *Group) after(u *Unit) int {
	if !u.QuietKnown {
		return len(g.units)
	}
	least := u.Quiet + int64(pause)
	if u.worked {
		least = u.Quiet - int64(handover)
	}
	return sort.Search(len(g.units), func(i int) bool { return g.units[i].Born > least && g.units[i].Generation > u.Generation })
}

// superseded are the units that the host has stopped using when it launched a newer one, which it uses; why says why none can be
// named although some are idle.
func (g *Group) superseded(w *Watch) (found []*Unit, why string) {
	replaced := g.replaced()
	replaced = replaced[:max(0, len(replaced)-w.resident)] // the newest ones are kept on purpose
	generations := map[int]bool{}
	for _, u := range replaced {
		generations[u.Generation] = true
	}
	if len(generations) < leastGenerations || len(replaced) < leastReplaced+forEachParallel*g.parallel() {
		return nil, "may be sessions"
	}
	return g.idle(w, replaced), ""
}

// replaced are the units whose stdin the host holds, and that a newer one has replaced which was used during the watch. They are in the
// order of their births.
func (g *Group) replaced() (all []*Unit) {
	used := 0 // the last one: the first has replaced none
	for i, u := range g.units {
		if u.talked {
			used = i
		}
	}
	for _, u := range g.units {
		if u.Alive() && u.top().Stdin == HeldByHost && u.next <= used {
			all = append(all, u)
		}
	}
	return all
}

// idle are those of some units that are idle for longer than the host lets others be idle.
func (g *Group) idle(w *Watch, of []*Unit) []*Unit {
	least := g.idleFor(w)
	return slices.DeleteFunc(slices.Clone(of), func(u *Unit) bool { return w.to-u.Quiet < least })
}

// idleFor is how long a unit must be idle to be called that: for longer than the settle time, and for twice as long as others were
// before the host used them again, or ended them.
func (g *Group) idleFor(w *Watch) int64 {
	least := int64(w.limits.Settle)
	for _, u := range g.units {
		if died := u.died(); died != never && u.QuietKnown {
			least = max(least, 2*(died-u.Quiet))
		}
		for _, ch := range u.Members {
			least = max(least, 2*ch.again)
		}
	}
	return least
}

// parallel is how many units were used after a newer generation was launched, which was no part of the same batch.
func (g *Group) parallel() (n int) {
	for _, u := range g.units {
		newer := sort.Search(len(g.units), func(i int) bool { return g.units[i].Born > u.Born+int64(together) })
		if newer < len(g.units) && u.usedUntil() > g.units[newer].Born+int64(together) {
			n++
		}
	}
	return n
}
