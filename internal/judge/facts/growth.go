// Growth is told from noise in a handful of measurements.

package facts

import "slices"

// most is how many measurements are looked at: slopes between all pairs of points grow with the square.
const most = 401

// Thin leaves out measurements in between, evenly, where there are too many.
func Thin[T any](group []T) []T {
	n := len(group)
	if n <= most {
		return group
	}
	var kept []T
	for i := range most {
		kept = append(kept, group[i*(n-1)/(most-1)])
	}
	return kept
}

// Floor is what each value returned to in the end: the least of it and all
// later ones. What is only held for a moment does not show in it.
func Floor(values []int64) []int64 {
	out := slices.Clone(values)
	for i := len(out) - 2; i >= 0; i-- {
		out[i] = min(out[i], out[i+1])
	}
	return out
}

// Rises counts the steps up.
func Rises(values []int64) (n int) {
	for i := 1; i < len(values); i++ {
		if values[i] > values[i-1] {
			n++
		}
	}
	return n
}

// WithoutJump takes the greatest step up out of the values: a heap grows by
// steps, and one in the middle of a few cycles looks like a slope.
func WithoutJump(values []int64) []int64 {
	out := slices.Clone(values)
	at, step := 0, int64(0)
	for i := 1; i < len(out); i++ {
		if d := out[i] - out[i-1]; d > step {
			at, step = i, d
		}
	}
	for i := at; i < len(out); i++ {
		out[i] -= step
	}
	return out
}

// Slope is the growth per cycle: the median of the slopes between all pairs
// of points (Theil-Sen), which single points that are off do not move.
func Slope(x []int, y []int64) float64 {
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
