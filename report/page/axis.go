package page

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/report/words"
)

// The axis runs over the first axisWidth per cent of a plot; what outlives the run runs on into the rest.
const (
	axisWidth = 98.0
	// A stretch in which nothing happens gets at most idleShare of the axis, where that shortens it by at least idleWorth.
	idleShare = 0.07
	idleWorth = 4.0
	idleMost  = 9 // so many stretches at most
)

// axis maps the time of a run to per cent of a plot's width. Long stretches without an event are drawn shorter, and
// marked: a run is a burst of milliseconds between waits of seconds.
type axis struct {
	knots []knot
	idle  []idle
	scale float64 // per cent per nanosecond where time is not shortened
}

type knot struct {
	t int64
	x float64
}

type idle struct {
	from, to int64
	x0, x1   float64
}

func newAxis(times []int64, end int64) *axis {
	end = max(end, 1)
	ts := []int64{0, end}
	for _, t := range times {
		if t > 0 && t < end {
			ts = append(ts, t)
		}
	}
	slices.Sort(ts)
	ts = slices.Compact(ts)
	longest := idleCap(ts)
	drawn := func(gap int64) float64 {
		if float64(gap) > longest*idleWorth {
			return longest
		}
		return float64(gap)
	}
	total := 0.0
	for i := 1; i < len(ts); i++ {
		total += drawn(ts[i] - ts[i-1])
	}
	a := &axis{scale: axisWidth / total}
	sum := 0.0
	a.knots = append(a.knots, knot{})
	for i := 1; i < len(ts); i++ {
		gap := ts[i] - ts[i-1]
		x0 := sum * a.scale
		sum += drawn(gap)
		x1 := sum * a.scale
		if drawn(gap) < float64(gap) {
			a.idle = append(a.idle, idle{ts[i-1], ts[i], x0, x1})
			a.knots = append(a.knots, knot{ts[i-1], x0}, knot{ts[i], x1})
		}
	}
	a.knots = append(a.knots, knot{end, axisWidth})
	return a
}

// idleCap is the length, in nanoseconds of ordinary time, at which a stretch
// without events is drawn when it is longer than idleWorth times that.
func idleCap(ts []int64) float64 {
	gaps := make([]float64, 0, len(ts))
	rest := 0.0
	for i := 1; i < len(ts); i++ {
		gap := float64(ts[i] - ts[i-1])
		gaps = append(gaps, gap)
		rest += gap
	}
	slices.Sort(gaps)
	for k := 0; k <= idleMost && k < len(gaps); k++ {
		longest := idleShare * rest / (1 - idleShare*float64(k))
		next := gaps[len(gaps)-1-k]
		if next <= longest*idleWorth {
			return longest
		}
		rest -= next
	}
	return math.Inf(1)
}

// x is where a moment is, in per cent.
func (a *axis) x(t int64) float64 {
	i, found := slices.BinarySearchFunc(a.knots, t, func(k knot, t int64) int { return cmp.Compare(k.t, t) })
	switch {
	case found:
		return a.knots[i].x
	case i == 0:
		return 0
	case i == len(a.knots):
		return axisWidth
	}
	from, to := a.knots[i-1], a.knots[i]
	return from.x + (to.x-from.x)*float64(t-from.t)/float64(to.t-from.t)
}

// tick is a label on the axis.
type tick struct {
	X    string
	Text string
	Idle bool
	at   float64
}

const tickRoom = 6.5 // per cent between labels

// ticks labels the shortened stretches with their length, and round moments elsewhere.
func (a *axis) ticks() []tick {
	var out []tick
	free := func(x float64) bool {
		return !slices.ContainsFunc(out, func(t tick) bool { return math.Abs(t.at-x) < tickRoom })
	}
	for _, s := range a.idle {
		if mid := (s.x0 + s.x1) / 2; free(mid) {
			out = append(out, tick{X: pct(mid), Text: duration.Text(s.to - s.from), Idle: true, at: mid})
		}
	}
	step := niceStep(tickRoom / a.scale)
	end := a.knots[len(a.knots)-1].t
	for n := int64(0); n*step <= end && len(out) < 200; n++ {
		t := n * step
		if i := slices.IndexFunc(a.idle, func(s idle) bool { return t > s.from && t < s.to }); i >= 0 {
			n = a.idle[i].to / step
			continue
		}
		if x := a.x(t); free(x) && x < axisWidth-1 {
			out = append(out, tick{X: pct(x), Text: seconds(t, step), at: x})
		}
	}
	slices.SortFunc(out, func(p, q tick) int { return cmp.Compare(p.at, q.at) })
	return out
}

// niceStep is the least 1, 2 or 5 times a power of ten that is not under ns.
func niceStep(ns float64) int64 {
	base := math.Pow(10, math.Floor(math.Log10(math.Max(ns, 1))))
	for _, m := range []float64{1, 2, 5, 10} {
		if base*m >= ns {
			return int64(math.Max(base*m, 1))
		}
	}
	return int64(base * 10)
}

// seconds is a moment with as many decimals as its step has.
func seconds(t, step int64) string {
	decimals := 0
	for s := step; s < 1e9 && decimals < 9; s *= 10 {
		decimals++
	}
	return strconv.FormatFloat(float64(t)/1e9, 'f', decimals, 64) + " s"
}

func pct(x float64) string { return num(x) + "%" }

// num is a coordinate with two decimals at most.
func num(x float64) string {
	return words.TrimZeros(strconv.FormatFloat(x, 'f', 2, 64))
}
