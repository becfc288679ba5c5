package facts

import (
	"math"
	"slices"
)

// Trend is how much something grows in a unit of x: the median of the slopes between all pairs of points (Theil-Sen), and the
// interval that has the true one with 95 % (Sen 1968).
type Trend struct {
	Slope float64 `json:"slope"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// LeastPoints is how many points a trend needs: with fewer no interval is told at 95 %.
const LeastPoints = 6

// Grows says that it is sure to grow.
func (t *Trend) Grows() bool { return t.Low > 0 }

// TrendOf is the trend of some points, which are in the order of x. It is false where there are too few.
func TrendOf(x []float64, y []int64) (Trend, bool) {
	n := len(x)
	if n < LeastPoints {
		return Trend{}, false
	}
	var slopes []float64
	for i := range x {
		for j := i + 1; j < n; j++ {
			if x[j] > x[i] {
				slopes = append(slopes, float64(y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	if len(slopes) < LeastPoints {
		return Trend{}, false
	}
	slices.Sort(slopes)
	const z = 1.959963984540054 // the 97.5% point of the normal distribution
	half := z * math.Sqrt(kendall(y)) / 2
	middle := float64(len(slopes)) / 2
	at := func(i float64) float64 { return slopes[min(max(int(i), 0), len(slopes)-1)] }
	median := (slopes[(len(slopes)-1)/2] + slopes[len(slopes)/2]) / 2
	return Trend{Slope: median, Low: at(math.Floor(middle - half - 1)), High: at(math.Ceil(middle + half))}, true
}

// kendall is the variance of the number of rises less the number of falls among all pairs, corrected for values that are alike.
func kendall(y []int64) float64 {
	term := func(n int) float64 { return float64(n) * float64(n-1) * float64(2*n+5) }
	v := term(len(y))
	alike := map[int64]int{}
	for _, value := range y {
		alike[value]++
	}
	for _, n := range alike {
		v -= term(n)
	}
	return v / 18
}
