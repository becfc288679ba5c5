package growth_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/growth"
)

func TestSlope(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 2, growth.Slope([]int{1, 2, 4, 5}, []int64{2, 4, 8, 10}), 1e-9)
	assert.InDelta(t, 1, growth.Slope([]int{1, 2, 3, 4, 5, 6, 7}, []int64{1, 2, 3, 400, 5, 6, 7}), 1e-9, "one that is off does not move it")
	assert.Equal(t, []int64{1, 2, 2, 3}, growth.WithoutJump([]int64{1, 2, 20, 21}))
	assert.Equal(t, []int64{3, 2, 1}, growth.WithoutJump([]int64{3, 2, 1}))
	assert.Zero(t, growth.Slope([]int{1}, []int64{5}))
	assert.Equal(t, []int64{1, 1, 2, 2}, growth.Floor([]int64{3, 1, 4, 2}))
	assert.Equal(t, 1, growth.Rises([]int64{1, 1, 2, 2}))
}
