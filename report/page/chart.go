package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
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

func newChart(s *model.Run, a *axis, label string) *chartView {
	var mine []*model.Server
	for _, f := range s.Servers {
		if f.Label == label {
			mine = append(mine, f)
		}
	}
	owed := s.Owed(label)
	c := plot(a, mine, owed, chartHeight)
	c.Title = fmt.Sprintf("Live servers of %s over time: %d at most", words.Clean(label, words.MaxName), c.Max)
	c.Right = []string{fmt.Sprintf("%d alive at most", c.Max)}
	if len(owed) > 0 {
		c.Right = append(c.Right, fmt.Sprintf("%d owed at most", model.Highest(owed)))
	}
	return c
}

// curve is the chart of a few servers, without what was owed.
func curve(a *axis, fates []*model.Server, height int) *chartView {
	c := plot(a, fates, nil, height)
	c.Title = fmt.Sprintf("%s without a lifeline: %d alive at most", words.Plural(len(fates), "server"), c.Max)
	return c
}

func plot(a *axis, fates []*model.Server, owed []model.Level, height int) *chartView {
	alive, over := model.LevelsOf(fates)
	c := &chartView{Height: height, Max: model.Highest(alive)}
	top := max(c.Max, model.Highest(owed), 1)
	c.Alive = area(a, alive, top, height)
	c.Over = area(a, over, top, height)
	if len(owed) > 0 {
		c.Owed = stairs(a, owed, top, height)
	}
	return c
}

// point is a level in the units of a path.
type point struct{ x, y float64 }

func points(a *axis, levels []model.Level, top, height int) []point {
	if len(levels) > chartCells {
		levels = extremes(a, levels)
	}
	out := make([]point, 0, len(levels))
	for _, l := range levels {
		y := float64(height-1) - float64(l.N)/float64(top)*float64(height-4)
		out = append(out, point{a.x(l.T) * chartWidth / 100, y})
	}
	return out
}

// extremes keeps, of each cell of the plot, the lowest and the highest level
// and the last: a peak is never lost.
func extremes(a *axis, levels []model.Level) []model.Level {
	cell := func(l model.Level) int { return int(a.x(l.T) * chartCells / 100) }
	var out []model.Level
	for i := 0; i < len(levels); {
		j, lo, hi := i, i, i
		for ; j < len(levels) && cell(levels[j]) == cell(levels[i]); j++ {
			if levels[j].N < levels[lo].N {
				lo = j
			}
			if levels[j].N > levels[hi].N {
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
func stairs(a *axis, levels []model.Level, top, height int) svgPath {
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

func area(a *axis, levels []model.Level, top, height int) svgPath {
	path := stairs(a, levels, top, height)
	if path == "" {
		return ""
	}
	return path + svgPath(fmt.Sprintf("V%dZ", height-1))
}

// hostBlock is the chart of the host itself: its open descriptors and the
// zombies below it, as often as a census was taken. Nil for a few looks only.
func hostBlock(s *model.Run, a *axis) *blockView {
	var fds, zombies []model.Level
	first, last := (*record.Process)(nil), (*record.Process)(nil)
	for _, one := range s.Samples {
		zombies = append(zombies, model.Level{T: one.T, N: one.Zombies})
		if one.Host == nil || one.Host.FDs < 0 {
			continue
		}
		fds = append(fds, model.Level{T: one.T, N: one.Host.FDs})
		if first == nil {
			first = one.Host
		}
		last = one.Host
	}
	if len(fds) < 3 {
		return nil
	}
	top := max(model.Highest(fds), model.Highest(zombies), 1)
	c := &chartView{Height: chartHeight, Max: model.Highest(fds), Alive: area(a, fds, top, chartHeight)}
	if model.Highest(zombies) > 0 {
		c.Over = area(a, zombies, top, chartHeight)
	}
	c.Title = fmt.Sprintf("Open file descriptors of the host: %d at most; zombies: %d at most", c.Max, model.Highest(zombies))
	c.Right = []string{fmt.Sprintf("%d fds at most", c.Max), fmt.Sprintf("%s at most", words.Plural(model.Highest(zombies), "zombie"))}
	return &blockView{Label: "host", Sub: fmt.Sprintf("fds %d to %d, RSS %s to %s", first.FDs, last.FDs, words.Size(first.RSS), words.Size(last.RSS)), Chart: c}
}
