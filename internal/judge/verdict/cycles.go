package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/growth"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// cycle is the state at the end of one repetition of the scenario.
type cycle struct {
	record.Cycle
	name string // "cycle 3", or the checkpoint after the last one
	t    int64
	host *record.Process
	rows history.Rows
	live int // processes below the host

	rss, fds int64 // of the host and its own workers; fds is 0 where one can't be seen
}

func (f *facts) cycleOf(c record.Cycle, name string, look history.Look) *cycle {
	out := &cycle{Cycle: c, name: name, t: look.T, host: look.Host, rows: history.RowsOf(look.Census)}
	out.weigh(f.HostParts(look.Processes))
	for _, p := range look.Processes {
		if p.State != record.StateZombie {
			out.live++
		}
	}
	return out
}

// weigh sums up what the host's own processes hold: one behind a shell, or with
// a worker that does everything, is more than its first process.
func (c *cycle) weigh(workers []record.Process) {
	if c.host == nil {
		return
	}
	c.rss, c.fds = c.host.RSS, int64(c.host.FDs)
	for _, p := range workers {
		if p.Identity == c.host.Identity {
			continue
		}
		c.rss += p.RSS
		if c.fds > 0 && p.FDs > 0 {
			c.fds += int64(p.FDs)
		} else {
			c.fds = 0
		}
	}
}

// curve is a size of one process at the end of the cycles in which it had one.
type curve struct {
	n          []int // of the cycles
	at, values []int64
}

func curveOf(group []*cycle, size func(*cycle) int64) (out curve) {
	for _, c := range group {
		if v := size(c); v > 0 {
			out.n, out.at, out.values = append(out.n, c.N), append(out.at, c.t), append(out.values, v)
		}
	}
	return out
}

// list are the values of a sentence; of many, the first and the last ones.
func (c *curve) list(format func(int64) string) string {
	const most = 16
	var all []string
	for _, v := range c.values {
		all = append(all, format(v))
	}
	if n := len(all); n > most {
		all = slices.Concat(all[:most/2], []string{"…"}, all[n-most/2:])
	}
	return strings.Join(all, ", ")
}

// series are the cycles of each repeat that can be compared: nothing was there that should not be, and the host had
// the same number of processes to look after, in one life of the host. The first few of a repeat are warm-up. With
// them goes the first quiet checkpoint after the last one: it gives the host more time to come to rest.
func (f *facts) series(warmUp int) (all [][]*cycle) {
	type key struct{ series, life int }
	quiet := slices.DeleteFunc(slices.Clone(f.cycles), func(c *cycle) bool { return !c.Quiet || c.N <= warmUp || c.host == nil })
	keys, groups := lists.GroupBy(quiet, func(c *cycle) key { return key{c.Series, f.HostAt(c.t).N} })
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(a.series-b.series, a.life-b.life) })
	for _, k := range keys {
		all = append(all, f.withCheckpoint(growth.Thin(alikeCycles(groups[k]))))
	}
	return all
}

// alikeCycles keeps those with the commonest number of processes.
func alikeCycles(all []*cycle) []*cycle {
	byLive := map[int][]*cycle{}
	var best []*cycle
	for _, c := range all {
		byLive[c.live] = append(byLive[c.live], c)
		if len(byLive[c.live]) > len(best) {
			best = byLive[c.live]
		}
	}
	return best
}

func (f *facts) withCheckpoint(group []*cycle) []*cycle {
	last := group[len(group)-1]
	i := slices.IndexFunc(f.checkpoints, func(cp *checkpoint) bool {
		return cp.Begun >= last.t && !cp.HostGone && f.HostAt(cp.Begun) == f.HostAt(last.t)
	})
	if i < 0 {
		return group
	}
	cp := f.checkpoints[i]
	if !cp.Quiet || cp.Settled == nil || cp.Settled.Host == nil {
		return group
	}
	number := record.Cycle{Series: last.Series, N: last.N + 1, Quiet: true}
	after := f.cycleOf(number, "checkpoint "+prose.Plain(cp.Name), history.Look{Census: cp.Settled, T: cp.SettledAt})
	if after.live != last.live {
		return group
	}
	return append(slices.Clone(group), after)
}

// noCycles is why nothing can be said about growth, where at least n comparable cycles are needed.
func (f *facts) noCycles(n int) string {
	quiet := 0
	for _, c := range f.cycles {
		if c.Quiet {
			quiet++
		}
	}
	switch {
	case len(f.cycles) == 0:
		return "the scenario repeats nothing, so there are no cycles to compare"
	case len(f.cycles) < n:
		return fmt.Sprintf("%s of the scenario, and %d are needed", text.Count(len(f.cycles), "repetition"), n)
	case quiet < n:
		return fmt.Sprintf("what should be gone was still there at the end of %d of %s: what the host holds for it can't be told from a leak of its own", len(f.cycles)-quiet, text.Count(len(f.cycles), "cycle"))
	}
	return fmt.Sprintf("fewer than %d cycles in a row can be compared", n)
}
