package terminal

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/report/words"
)

func TestWrap(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"one two", "three"}, words.Wrap("one  two three", 8, 8))
	assert.Equal(t, []string{"abcdefgh", "ijklmnop", "q r"}, words.Wrap("abcdefghijklmnopq r", 8, 8))
	assert.Equal(t, []string{""}, words.Wrap("", 8, 8))
	assert.Equal(t, []string{`\::set-env`, `x`}, words.Wrap("::set-env x", 10, 10))
	assert.Equal(t, []string{`a`, `\::error::b`}, words.Wrap("a ::error::b", 10, 12))
}
