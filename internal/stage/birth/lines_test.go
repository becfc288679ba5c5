package birth

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	t.Parallel()
	// bufio's buffer has 4096 bytes: lines around it take another way.
	for _, n := range []int{0, 1, 4094, 4095, 4096, 4097, 9999, 10000} {
		for _, end := range []string{"\n", "\r\n"} {
			want := strings.Repeat("x", n)
			if end == "\r\n" && n == 10000 {
				continue
			}
			l := NewLines(strings.NewReader("first"+end+want+end+"last\ntorn"), 10000)
			for _, line := range []string{"first", want, "last"} {
				got, err := l.Next()
				require.NoError(t, err)
				assert.Equal(t, line, string(got))
			}
			_, err := l.Next()
			require.ErrorIs(t, err, io.EOF)
		}
	}
	l := NewLines(strings.NewReader(strings.Repeat("y", 10001)+"\nshort\n"+strings.Repeat("y", 3)+"\n"), 10000)
	_, err := l.Next()
	require.ErrorIs(t, err, ErrTooLong)
	got, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "short", string(got))
}

// FuzzLines: what comes out are the input's lines of allowed length, in order.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\nccccccccc\nd"), 4)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		l := NewLines(bytes.NewReader(in), limit)
		var want [][]byte
		for rest := in; ; {
			line, after, whole := bytes.Cut(rest, []byte("\n"))
			if !whole {
				break
			}
			want, rest = append(want, line), after
		}
		for _, w := range want {
			got, err := l.Next()
			if len(w) > limit {
				require.ErrorIs(t, err, ErrTooLong)
				continue
			}
			require.NoError(t, err)
			assert.Equal(t, string(bytes.TrimSuffix(w, []byte("\r"))), string(got))
		}
		_, err := l.Next()
		require.ErrorIs(t, err, io.EOF)
	})
}
