package driver_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

// FuzzLines: what comes out are the input's lines, in order, without their ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n\r\rlast"))
	f.Add(append(bytes.Repeat([]byte("x"), 70<<10), "\ny\n"...))
	f.Fuzz(func(t *testing.T, in []byte) {
		l := driver.NewLines(bytes.NewReader(in))
		rest := in
		for {
			want, after, whole := bytes.Cut(rest, []byte("\n"))
			got, err := l.Next()
			require.Equal(t, string(bytes.TrimRight(want, "\r\n")), string(got))
			require.NotContains(t, driver.Quote(got), "\x1b")
			if !whole {
				require.ErrorIs(t, err, io.EOF)
				return
			}
			require.NoError(t, err)
			rest = after
		}
	})
}
