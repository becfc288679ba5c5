package facts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Cycle is the state at the end of one repetition of the scenario.
type Cycle struct {
	record.Cycle
	Name     string // "cycle 3", or the checkpoint after the last one
	Host     *record.Process
	Live     int   // processes below the host
	RSS, FDs int64 // of the host and its own workers; FDs is 0 where one can't be seen

	t    int64
	rows history.Rows
}

func (f *Facts) cycleOf(c record.Cycle, name string, look history.Look) *Cycle {
	out := &Cycle{Cycle: c, Name: name, t: look.T, Host: look.Host, rows: history.RowsOf(look.Census)}
	out.weigh(f.HostParts(look.Processes))
	for _, p := range look.Processes {
		if p.State != record.StateZombie {
			out.Live++
		}
	}
	return out
}

// weigh sums up what the host's own processes hold: one behind a shell, or with
// a worker that does everything, is more than its first process.
func (c *Cycle) weigh(workers []record.Process) {
	if c.Host == nil {
		return
	}
	c.RSS, c.FDs = c.Host.RSS, int64(c.Host.FDs)
	for _, p := range workers {
		if p.Identity == c.Host.Identity {
			continue
		}
		c.RSS += p.RSS
		if c.FDs > 0 && p.FDs > 0 {
			c.FDs += int64(p.FDs)
		} else {
			c.FDs = 0
		}
	}
}

// MemoryOf is the memory of a process, or 0 where it was not there.
func (c *Cycle) MemoryOf(id record.Identity) int64 {
	if !c.rows.Alive(id) {
		return 0
	}
	return c.rows[id].RSS
}

// Curve is a size of one process at the end of the cycles in which it had one.
type Curve struct {
	N          []int   // the numbers of the cycles
	At, Values []int64 // the times of their ends, and the sizes
}

// CurveOf is the curve of a size, which is 0 where there was none.
func CurveOf(group []*Cycle, size func(*Cycle) int64) Curve { return curveOf(group, 1, size) }

// CountsOf is the curve of a count, which may be 0.
func CountsOf(group []*Cycle, count func(*Cycle) int64) Curve { return curveOf(group, 0, count) }

func curveOf(group []*Cycle, least int64, size func(*Cycle) int64) (out Curve) {
	for _, c := range group {
		if v := size(c); v >= least {
			out.N, out.At, out.Values = append(out.N, c.N), append(out.At, c.t), append(out.Values, v)
		}
	}
	return out
}

// List are the values of a sentence; of many, the first and the last ones.
func (c *Curve) List(format func(int64) string) string {
	const most = 16
	var all []string
	for _, v := range c.Values {
		all = append(all, format(v))
	}
	if n := len(all); n > most {
		all = slices.Concat(all[:most/2], []string{"…"}, all[n-most/2:])
	}
	return strings.Join(all, ", ")
}

// Series are the cycles of each repeat that can be compared: nothing was there that should not be, and the host had
// the same number of processes to look after, in one life of the host. The first few of a repeat are warm-up. With
// them goes the first quiet checkpoint after the last one: it gives the host more time to come to rest.
func (f *Facts) Series(warmUp int) (all [][]*Cycle) {
	type key struct{ series, life int }
	quiet := slices.DeleteFunc(slices.Clone(f.Cycles), func(c *Cycle) bool { return !c.Quiet || c.N <= warmUp || c.Host == nil })
	keys, groups := lists.GroupBy(quiet, func(c *Cycle) key { return key{c.Series, f.HostAt(c.t).N} })
	slices.SortStableFunc(keys, func(a, b key) int { return a.series - b.series }) // the lives are in their order
	for _, k := range keys {
		all = append(all, f.withCheckpoint(Thin(alikeCycles(groups[k]))))
	}
	return all
}

// alikeCycles keeps those with the commonest number of processes.
func alikeCycles(all []*Cycle) []*Cycle {
	byLive := map[int][]*Cycle{}
	var best []*Cycle
	for _, c := range all {
		byLive[c.Live] = append(byLive[c.Live], c)
		if len(byLive[c.Live]) > len(best) {
			best = byLive[c.Live]
		}
	}
	return best
}

func (f *Facts) withCheckpoint(group []*Cycle) []*Cycle {
	last := group[len(group)-1]
	i := slices.IndexFunc(f.Checkpoints, func(cp *Checkpoint) bool {
		return cp.Begun >= last.t && !cp.HostGone && f.HostAt(cp.Begun) == f.HostAt(last.t)
	})
	if i < 0 {
		return group
	}
	cp := f.Checkpoints[i]
	if !cp.Quiet || cp.Settled == nil || cp.Settled.Host == nil {
		return group
	}
	number := record.Cycle{Series: last.Series, N: last.N + 1, Quiet: true}
	after := f.cycleOf(number, "checkpoint "+prose.Plain(cp.Name), history.Look{Census: cp.Settled, T: cp.SettledAt})
	if after.Live != last.Live {
		return group
	}
	return append(slices.Clone(group), after)
}

// NoCycles is why nothing can be said about growth, where at least n comparable cycles are needed.
func (f *Facts) NoCycles(n int) string {
	quiet := 0
	for _, c := range f.Cycles {
		if c.Quiet {
			quiet++
		}
	}
	switch {
	case len(f.Cycles) == 0:
		return "the scenario repeats nothing, so there are no cycles to compare"
	case len(f.Cycles) < n:
		return fmt.Sprintf("%s of the scenario; %d are needed", text.Count(len(f.Cycles), "repetition"), n)
	case quiet < n:
		return fmt.Sprintf(
			"at the end of %d of %s, processes that should be gone were still there: "+
				"what the host holds for them cannot be distinguished from a leak", len(f.Cycles)-quiet, text.Count(len(f.Cycles), "cycle"))
	}
	return fmt.Sprintf("fewer than %d cycles in a row can be compared", n)
}
