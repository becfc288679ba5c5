package terminal

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"one two", "three"}, wrap("one  two three", 8, 8))
	assert.Equal(t, []string{"abcdefgh", "ijklmnop", "q r"}, wrap("abcdefghijklmnopq r", 8, 8))
	assert.Equal(t, []string{""}, wrap("", 8, 8))
	assert.Equal(t, []string{`\::set-env`, `x`}, wrap("::set-env x", 10, 10))
	assert.Equal(t, []string{`a`, `\::error::b`}, wrap("a ::error::b", 10, 12))
}
