package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	chartHeight = 44
	restHeight  = 18
	chartWidth  = 1000 // units of the path; it is stretched to the plot's width
	chartCells  = 400  // more changes than this are drawn as extremes
)

// chartView is a step chart: how many servers were alive, how many of them
// should have been gone, and how many the host was entitled to.
type chartView struct {
	Height int
	Max    int
	Right  []string
	Alive  svgPath
	Over   svgPath
	Owed   svgPath
	Title  string
}

// svgPath is the d of a path: made of numbers, by us, so scrub leaves it alone.
type svgPath string

// level is the height of a curve from t on.
type level struct {
	t int64
	n int
}

func (s *story) chart(a *axis, label string) *chartView {
	var mine []*fate
	for _, f := range s.fates {
		if f.Label == label {
			mine = append(mine, f)
		}
	}
	owed := s.owed(label)
	c := plot(a, mine, owed, chartHeight)
	c.Title = fmt.Sprintf("Live servers of %s over time: %d at most", clean(label, maxName), c.Max)
	c.Right = []string{fmt.Sprintf("%d alive at most", c.Max)}
	if len(owed) > 0 {
		c.Right = append(c.Right, fmt.Sprintf("%d owed at most", highest(owed)))
	}
	return c
}

// curve is the chart of a few servers, without what was owed.
func curve(a *axis, fates []*fate, height int) *chartView {
	c := plot(a, fates, nil, height)
	c.Title = fmt.Sprintf("%s without a lifeline: %d alive at most", plural(len(fates), "server"), c.Max)
	return c
}

func plot(a *axis, fates []*fate, owed []level, height int) *chartView {
	alive, over := levelsOf(fates)
	c := &chartView{Height: height, Max: highest(alive)}
	top := max(c.Max, highest(owed), 1)
	c.Alive = area(a, alive, top, height)
	c.Over = area(a, over, top, height)
	if len(owed) > 0 {
		c.Owed = stairs(a, owed, top, height)
	}
	return c
}

// levelsOf are how many servers were alive, and how many of them should have
// been gone.
func levelsOf(fates []*fate) (alive, over []level) {
	for _, f := range fates {
		alive = append(alive, level{f.Born, 1})
		if !f.left {
			alive = append(alive, level{f.until, -1})
		}
		if f.overdue >= 0 {
			over = append(over, level{f.overdue, 1})
			if !f.left {
				over = append(over, level{f.until, -1})
			}
		}
	}
	return sums(alive), sums(over)
}

// owed is how many servers of a label the host was entitled to: one for each
// session that is open or being opened. Nil where sessions are not known.
func (s *story) owed(label string) []level {
	if s.header.Host.SessionsUnknown() {
		return nil
	}
	var steps []level
	for _, session := range s.lives.Sessions() {
		has := false
		for _, c := range session.Changes {
			want := c.Label == label && (c.State == record.SessionOpen || c.State == record.SessionOpening)
			if want == has {
				continue
			}
			has = want
			if want {
				steps = append(steps, level{c.T, 1})
			} else {
				steps = append(steps, level{c.T, -1})
			}
		}
		if has && s.hostGone >= 0 {
			steps = append(steps, level{s.hostGone, -1})
		}
	}
	return sums(steps)
}

// sums turns changes into levels, one for each moment.
func sums(changes []level) []level {
	slices.SortStableFunc(changes, func(x, y level) int { return cmp.Compare(x.t, y.t) })
	var out []level
	n := 0
	for _, c := range changes {
		n += c.n
		if k := len(out); k > 0 && out[k-1].t == c.t {
			out[k-1].n = n
		} else {
			out = append(out, level{c.t, n})
		}
	}
	return out
}

func highest(levels []level) int {
	top := 0
	for _, l := range levels {
		top = max(top, l.n)
	}
	return top
}

// point is a level in the units of a path.
type point struct{ x, y float64 }

func points(a *axis, levels []level, top, height int) []point {
	if len(levels) > chartCells {
		levels = extremes(a, levels)
	}
	out := make([]point, 0, len(levels))
	for _, l := range levels {
		y := float64(height-1) - float64(l.n)/float64(top)*float64(height-4)
		out = append(out, point{a.x(l.t) * chartWidth / 100, y})
	}
	return out
}

// extremes keeps, of each cell of the plot, the lowest and the highest level
// and the last: a peak is never lost.
func extremes(a *axis, levels []level) []level {
	cell := func(l level) int { return int(a.x(l.t) * chartCells / 100) }
	var out []level
	for i := 0; i < len(levels); {
		j, lo, hi := i, i, i
		for ; j < len(levels) && cell(levels[j]) == cell(levels[i]); j++ {
			if levels[j].n < levels[lo].n {
				lo = j
			}
			if levels[j].n > levels[hi].n {
				hi = j
			}
		}
		keep := []int{lo, hi, j - 1}
		slices.Sort(keep)
		for _, k := range slices.Compact(keep) {
			out = append(out, levels[k])
		}
		i = j
	}
	return out
}

// stairs is the path of a step curve from the first level to the right edge.
func stairs(a *axis, levels []level, top, height int) svgPath {
	ps := points(a, levels, top, height)
	if len(ps) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %d", num(ps[0].x), height-1)
	for _, p := range ps {
		fmt.Fprintf(&b, "H%sV%s", num(p.x), num(p.y))
	}
	fmt.Fprintf(&b, "H%d", chartWidth)
	return svgPath(b.String())
}

func area(a *axis, levels []level, top, height int) svgPath {
	path := stairs(a, levels, top, height)
	if path == "" {
		return ""
	}
	return path + svgPath(fmt.Sprintf("V%dZ", height-1))
}

// hostBlock is the chart of the host itself: its open descriptors and the
// zombies below it, as often as a census was taken. Nil for a few looks only.
func (s *story) hostBlock(a *axis) *blockView {
	var fds, zombies []level
	first, last := (*record.Process)(nil), (*record.Process)(nil)
	for _, one := range s.samples {
		zombies = append(zombies, level{one.t, one.zombies})
		if one.host == nil || one.host.FDs < 0 {
			continue
		}
		fds = append(fds, level{one.t, one.host.FDs})
		if first == nil {
			first = one.host
		}
		last = one.host
	}
	if len(fds) < 3 {
		return nil
	}
	top := max(highest(fds), highest(zombies), 1)
	c := &chartView{Height: chartHeight, Max: highest(fds), Alive: area(a, fds, top, chartHeight)}
	if highest(zombies) > 0 {
		c.Over = area(a, zombies, top, chartHeight)
	}
	c.Title = fmt.Sprintf("Open file descriptors of the host: %d at most; zombies: %d at most", c.Max, highest(zombies))
	c.Right = []string{fmt.Sprintf("%d fds at most", c.Max), fmt.Sprintf("%s at most", plural(highest(zombies), "zombie"))}
	return &blockView{Label: "host", Sub: fmt.Sprintf("fds %d to %d, RSS %s to %s", first.FDs, last.FDs, size(first.RSS), size(last.RSS)), Chart: c}
}
