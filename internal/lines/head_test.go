package lines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHead(t *testing.T) {
	t.Parallel()
	h := Head{Max: 5}
	for _, text := range []string{"abc", "", "def", strings.Repeat("x", 1<<20)} {
		n, err := h.Write([]byte(text))
		require.NoError(t, err)
		assert.Len(t, text, n)
	}
	assert.Equal(t, "abcde", string(h.Bytes()))
}
