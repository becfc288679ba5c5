package facts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/facts"
)

func TestSlope(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2, facts.Slope([]int{1, 2, 4, 5}, []int64{2, 4, 8, 10}), 1e-9)
	assert.InDelta(t, 1, facts.Slope([]int{1, 2, 3, 4, 5, 6, 7}, []int64{1, 2, 3, 400, 5, 6, 7}), 1e-9, "one that is off does not move it")
	assert.Equal(t, []int64{1, 2, 2, 3}, facts.WithoutJump([]int64{1, 2, 20, 21}))
	assert.Equal(t, []int64{3, 2, 1}, facts.WithoutJump([]int64{3, 2, 1}))
	assert.Zero(t, facts.Slope([]int{1}, []int64{5}))
	assert.Equal(t, []int64{1, 1, 2, 2}, facts.Floor([]int64{3, 1, 4, 2}))
	assert.Equal(t, 1, facts.Rises([]int64{1, 1, 2, 2}))
}

// TestSlopeOfUnsortedAndEven: the middle of an even number of slopes is between two of them, whatever the order of the points.
func TestSlopeOfUnsortedAndEven(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2, facts.Slope([]int{1, 2, 2}, []int64{10, 11, 13}), 1e-9, "the slopes 1 and 3; two points of one cycle have none")
	assert.InDelta(t, 5, facts.Slope([]int{0, 1, 2}, []int64{0, 1, 10}), 1e-9, "1, 9 and 5")
	assert.InDelta(t, 7.0/12, facts.Slope([]int{0, 1, 2, 3}, []int64{0, 9, 1, 2}), 1e-9, "9, 1/2, 2/3, -8, -7/2 and 1")
	assert.Equal(t, []int64{1, 1, 2, 12}, facts.WithoutJump([]int64{1, 11, 12, 22}), "of two steps that are alike the first")
	assert.Equal(t, []int64{-5, -5}, facts.WithoutJump([]int64{-5, -4}))
}

// TestThin: of too many measurements as many as are looked at are kept, the first and the last among them, evenly.
func TestThin(t *testing.T) {
	t.Parallel()
	all := make([]int, 1001)
	for i := range all {
		all[i] = i
	}
	assert.Equal(t, all[:401], facts.Thin(all[:401]))
	assert.Equal(t, all[:3], facts.Thin(all[:3]))
	kept := facts.Thin(all)
	assert.Len(t, kept, 401)
	assert.Equal(t, 0, kept[0])
	assert.Equal(t, 500, kept[200])
	assert.Equal(t, 1000, kept[400])
	kept = facts.Thin(all[:402])
	assert.Len(t, kept, 401)
	assert.Equal(t, 401, kept[400])
}
