package lines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `"\x1b[2J"`, Quote([]byte("\x1b[2J")))
	assert.Less(t, len(Quote([]byte(strings.Repeat("y", 4<<20)))), 300)
}

// FuzzQuote: nothing that is quoted steers a terminal.
func FuzzQuote(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n\r\rlast\x1b[2J"))
	f.Fuzz(func(t *testing.T, in []byte) {
		assert.NotContains(t, Quote(in), "\x1b")
	})
}
