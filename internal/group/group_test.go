package group

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBy(t *testing.T) {
	t.Parallel()
	keys, groups := By([]string{"bo", "a", "be", "c", "b"}, func(s string) string { return s[:1] })
	assert.Equal(t, []string{"b", "a", "c"}, keys, "in the order of their first values")
	assert.Equal(t, map[string][]string{"b": {"bo", "be", "b"}, "a": {"a"}, "c": {"c"}}, groups)
	keys, groups = By(nil, func(s string) string { return s })
	assert.Empty(t, keys)
	assert.Empty(t, groups)
}
