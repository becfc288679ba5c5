package birth

import (
	"bufio"
	"errors"
	"io"
)

// MaxLine caps a line on the birth socket, in bytes.
const MaxLine = 1 << 20

// ErrTooLong is a line longer than the cap. It was skipped: reading goes on
// behind it.
var ErrTooLong = errors.New("a line was longer than allowed")

// Lines reads lines of a capped length from a peer that may send anything.
type Lines struct {
	r   *bufio.Reader
	max int
	buf []byte
}

// NewLines reads lines of at most max bytes from r.
func NewLines(r io.Reader, max int) *Lines {
	return &Lines{r: bufio.NewReader(r), max: max}
}

// Next returns the next line without its end; it is valid until the next
// call. A last line without an end is a torn one and is dropped: the error is
// then that of the reader, io.EOF for an orderly end.
func (l *Lines) Next() ([]byte, error) {
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 && !long && len(part)-1 <= l.max {
			return trimEnd(part), nil
		}
		if long = long || len(l.buf)+len(part) > l.max+1; !long {
			l.buf = append(l.buf, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, err
		case long:
			l.buf = nil
			return nil, ErrTooLong
		}
		return trimEnd(l.buf), nil
	}
}

func trimEnd(line []byte) []byte {
	line = line[:len(line)-1]
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}
