package lines

import (
	"bufio"
	"bytes"
	"errors"
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
			l := New(strings.NewReader("first"+end+want+end+"last\ntorn"), 10000)
			for _, line := range []string{"first", want, "last"} {
				got, err := l.Next()
				require.NoError(t, err)
				assert.Equal(t, line, string(got))
			}
			torn, err := l.Next()
			require.ErrorIs(t, err, io.EOF)
			assert.Equal(t, "torn", string(torn))
		}
	}
	l := New(strings.NewReader(strings.Repeat("y", 10001)+"\nshort\n"+strings.Repeat("y", 3)+"\n"), 10000)
	_, err := l.Next()
	require.ErrorIs(t, err, ErrTooLong)
	got, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "short", string(got))
}

// TestLongestLines: lines of the cap are whole, and longer ones are skipped,
// whatever the size of the buffer.
func TestLongestLines(t *testing.T) {
	t.Parallel()
	const most = 4 << 20
	long := strings.Repeat("y", most)
	l := New(bufio.NewReaderSize(strings.NewReader("a\r\n\n"+long+"\n"+long+strings.Repeat("z", 1<<18)+"\nb\nrest"), 64<<10), most)
	for _, want := range []string{"a", "", long} {
		line, err := l.Next()
		require.NoError(t, err)
		assert.Equal(t, want, string(line))
	}
	_, err := l.Next()
	require.ErrorIs(t, err, ErrTooLong)
	line, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "b", string(line))
	line, err = l.Next()
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, "rest", string(line))
}

// TestEndlessLine: it is told as soon as it is too long, and what is behind it
// can be read.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	go func() { _, _ = io.WriteString(out, strings.Repeat("y", 3*4096)) }()
	l := New(in, 100)
	_, err := l.Next()
	require.ErrorIs(t, err, ErrTooLong)
	go func() { _, _ = io.WriteString(out, "y\nnext\n"); out.CloseWithError(io.ErrUnexpectedEOF) }()
	got, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "next", string(got))
	_, err = l.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// FuzzLines: what comes out are the input's lines of allowed length, in order.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\nccccccccc\nd"), 4)
	f.Add([]byte("a\nbb\r\n\n\r\rlast"), 1<<16)
	f.Add(append(bytes.Repeat([]byte("x"), 70<<10), "\ny\n"...), 1<<16)
	f.Fuzz(func(t *testing.T, in []byte, limit int) {
		if limit < 1 || limit > 1<<16 {
			return
		}
		l := New(bytes.NewReader(in), limit)
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
			assert.Equal(t, string(bytes.TrimRight(w, "\r")), string(got))
		}
		torn, err := l.Next()
		if errors.Is(err, ErrTooLong) { // no newline has come, and it is too long already
			_, err = l.Next()
		} else {
			assert.Equal(t, string(bytes.TrimRight(in[bytes.LastIndexByte(in, '\n')+1:], "\r")), string(torn))
		}
		require.ErrorIs(t, err, io.EOF)
	})
}
