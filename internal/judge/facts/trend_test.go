package facts_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/facts"
)

func trend(y ...int64) (facts.Trend, bool) {
	x := make([]float64, len(y))
	for i := range x {
		x[i] = float64(i) / 2
	}
	return facts.TrendOf(x, y)
}

func TestTrend(t *testing.T) {
	t.Parallel()
	got, ok := trend(1, 2, 3, 4, 5, 6)
	assert.True(t, ok)
	assert.Equal(t, facts.Trend{Slope: 2, Low: 2, High: 2}, got)
	got, ok = trend(5, 5, 5, 5, 5, 5)
	assert.True(t, ok)
	assert.Zero(t, got)
	_, ok = trend(1, 2, 3, 4, 5)
	assert.False(t, ok, "too few")
	got, _ = trend(3, 1, 2, 3, 1, 2, 1, 3)
	assert.LessOrEqual(t, got.Low, 0.0, "up and down is no trend")
	assert.GreaterOrEqual(t, got.High, 0.0)
	got, _ = trend(1, 1, 1, 1, 2, 1, 1, 1)
	assert.Zero(t, got.Low, "one that is off does not move it")
	_, ok = facts.TrendOf(make([]float64, 9), make([]int64, 9))
	assert.False(t, ok, "no time has passed")
}

// TestGrows: only a trend that is sure to be above zero is growth.
func TestGrows(t *testing.T) {
	t.Parallel()
	for low, grows := range map[float64]bool{-1: false, 0: false, 0.1: true} {
		got := facts.Trend{Slope: 2, Low: low, High: 3}
		assert.Equal(t, grows, got.Grows(), low)
	}
}

// TestTrendIsRight: of noise without a trend no more than about one in forty shows growth at all; of a slow one nearly all do.
func TestTrendIsRight(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	const times, points = 400, 40
	x, y := make([]float64, points), make([]int64, points)
	shown := func(rise float64) (n int) {
		for range times {
			for i := range x {
				x[i], y[i] = float64(i), int64(rise*float64(i)+100*r.NormFloat64())
			}
			if got, _ := facts.TrendOf(x, y); got.Low > 0 {
				n++
			}
		}
		return n
	}
	assert.Less(t, shown(0), times/20)
	assert.Greater(t, shown(8), times*9/10)
}

// TestTrendByHand: the 45 slopes of ten squares are the sums of two numbers from 0 to 9. Their variance is 125, so that the interval goes
// from the 11th to the 35th of them.
func TestTrendByHand(t *testing.T) {
	t.Parallel()
	x := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	got, ok := facts.TrendOf(x, []int64{0, 1, 4, 9, 16, 25, 36, 49, 64, 81})
	assert.True(t, ok)
	assert.Equal(t, facts.Trend{Slope: 9, Low: 6, High: 12}, got)
	got, ok = facts.TrendOf(x[:9], []int64{0, 1, 4, 9, 16, 25, 36, 49, 64})
	assert.True(t, ok)
	assert.InDelta(t, 8, got.Slope, 1e-9, "the middle of an even number of slopes")
}

// TestTrendOfValuesThatAreAlike: of the 28 slopes of four zeros and four eights, 12 are flat. Their variance is 48 with the two groups taken
// out, so that the interval goes from the 7th to the 22nd of them: it would go to the 23rd, 8/3, with the variance of eight that differ.
func TestTrendOfValuesThatAreAlike(t *testing.T) {
	t.Parallel()
	got, ok := facts.TrendOf([]float64{0, 1, 2, 3, 4, 5, 6, 7}, []int64{0, 0, 0, 0, 8, 8, 8, 8})
	assert.True(t, ok)
	assert.InDelta(t, 4.0/3, got.Slope, 1e-9)
	assert.Zero(t, got.Low)
	assert.InDelta(t, 2, got.High, 1e-9)
}

// TestTrendOfSixSlopes is as many as it takes: the interval is wider than they are, and has all of them.
func TestTrendOfSixSlopes(t *testing.T) {
	t.Parallel()
	got, ok := facts.TrendOf([]float64{0, 0, 0, 0, 0, 0, 1}, []int64{0, 1, 2, 3, 4, 5, 10})
	assert.True(t, ok)
	assert.Equal(t, facts.Trend{Slope: 7.5, Low: 5, High: 10}, got)
}
