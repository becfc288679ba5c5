package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/text"
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

// TestColumnsOfWideNames: what stands behind a Chinese name or an emoji begins in the same column as behind any other.
func TestColumnsOfWideNames(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	NewPrinter(&out, Options{Width: 60}).Table([][]string{{"host", "runs"}, {"日本語ゲートウェイ", "12"}, {"🚀 gw", "3"}})
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		at := strings.LastIndexByte(line, ' ')
		assert.Equal(t, 20, text.Width(strings.TrimSpace(line[:at]))+len(line[:at])-len(strings.TrimRight(line[:at], " "))+1, "%q", line)
	}
	assert.Equal(t, "日本  |", Pad("日本", 6)+"|")
}
