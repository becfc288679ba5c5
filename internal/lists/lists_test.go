package lists

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestGroupBy(t *testing.T) {
	t.Parallel()
	keys, groups := GroupBy([]string{"bo", "a", "be", "c", "b"}, func(s string) string { return s[:1] })
	assert.Equal(t, []string{"b", "a", "c"}, keys, "in the order of their first values")
	assert.Equal(t, map[string][]string{"b": {"bo", "be", "b"}, "a": {"a"}, "c": {"c"}}, groups)
	keys, groups = GroupBy(nil, func(s string) string { return s })
	assert.Empty(t, keys)
	assert.Empty(t, groups)
}

func TestMap(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []int{2, 0, 1}, Map([]string{"bo", "", "a"}, func(s string) int { return len(s) }))
	assert.Equal(t, []int{}, Map(nil, func(s string) int { return len(s) }), "an empty list, which JSON writes as []")
}
