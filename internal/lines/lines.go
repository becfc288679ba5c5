// Package lines reads lines of a capped length from a peer that may send
// anything. Fake servers link it: it imports nothing heavy.
package lines

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong is a line longer than the cap. It is skipped: the next call reads on behind it.
var ErrTooLong = errors.New("a line was longer than allowed")

// Reader cuts a stream into lines.
type Reader struct {
	in   *bufio.Reader
	max  int
	buf  []byte
	skip bool // the rest of a line that is too long is still to come
}

// New reads lines of at most max bytes, their ends left out. Where r is a bufio.Reader, its buffer is used.
func New(r io.Reader, max int) *Reader { return &Reader{in: bufio.NewReader(r), max: max} }

// Next returns the next line without its end; it is valid until the next call. At the end of the input it returns
// what stands there without a newline together with the reader's error, io.EOF for an orderly end.
func (r *Reader) Next() ([]byte, error) {
	r.buf = r.buf[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		switch {
		case r.skip:
			r.skip = full
			if err != nil && !full {
				return nil, err
			}
		case err == nil && len(r.buf) == 0 && len(part)-1 <= r.max:
			return trim(part), nil
		case len(r.buf)+len(part) > r.max+1:
			r.buf, r.skip = nil, err != nil
			return nil, ErrTooLong
		default:
			r.buf = append(r.buf, part...)
			if !full {
				return trim(r.buf), err
			}
		}
	}
}

func trim(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }
