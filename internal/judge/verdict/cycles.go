package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/group"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
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

// series are the cycles of each repeat that can be compared: nothing was there
// that should not be, and the host had the same number of processes to look
// after, in one life of the host. The first few of a repeat are warm-up. With
// them goes the first quiet checkpoint after the last one: it gives the host more
// time to come to rest.
func (f *facts) series(warmUp int) (all [][]*cycle) {
	type key struct{ series, life int }
	quiet := slices.DeleteFunc(slices.Clone(f.cycles), func(c *cycle) bool { return !c.Quiet || c.N <= warmUp || c.host == nil })
	keys, groups := group.By(quiet, func(c *cycle) key { return key{c.Series, f.HostAt(c.t).N} })
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(a.series-b.series, a.life-b.life) })
	for _, k := range keys {
		all = append(all, f.withCheckpoint(thin(alikeCycles(groups[k]))))
	}
	return all
}

// maxCycles is how many cycles of one repeat are looked at: slopes between all
// pairs of points grow with the square.
const maxCycles = 401

// thin leaves out cycles in between, evenly, where there are too many.
func thin(group []*cycle) []*cycle {
	n := len(group)
	if n <= maxCycles {
		return group
	}
	var kept []*cycle
	for i := range maxCycles {
		kept = append(kept, group[i*(n-1)/(maxCycles-1)])
	}
	return kept
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

// noCycles is why nothing can be said about growth, where at least n
// comparable cycles are needed.
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

// floor is what each value returned to in the end: the least of it and all
// later ones. What is only held for a moment does not show in it.
func floor(values []int64) []int64 {
	out := slices.Clone(values)
	for i := len(out) - 2; i >= 0; i-- {
		out[i] = min(out[i], out[i+1])
	}
	return out
}

// rises counts the steps up.
func rises(values []int64) (n int) {
	for i := 1; i < len(values); i++ {
		if values[i] > values[i-1] {
			n++
		}
	}
	return n
}

// withoutJump takes the greatest step up out of the values: a heap grows by
// steps, and one in the middle of a few cycles looks like a slope.
func withoutJump(values []int64) []int64 {
	out := slices.Clone(values)
	at, most := 0, int64(0)
	for i := 1; i < len(out); i++ {
		if d := out[i] - out[i-1]; d > most {
			at, most = i, d
		}
	}
	for i := at; i < len(out); i++ {
		out[i] -= most
	}
	return out
}

// slope is the growth per cycle: the median of the slopes between all pairs
// of points (Theil-Sen), which single points that are off do not move.
func slope(x []int, y []int64) float64 {
	var all []float64
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if x[j] != x[i] {
				all = append(all, float64(y[j]-y[i])/float64(x[j]-x[i]))
			}
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	mid := len(all) / 2
	if len(all)%2 == 0 {
		return (all[mid-1] + all[mid]) / 2
	}
	return all[mid]
}
