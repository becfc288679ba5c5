package driver

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// MaxLine is the longest line that either side accepts, in bytes, its newline
// left out.
const MaxLine = 4 << 20

// ErrLineTooLong is the error for a line of more than MaxLine bytes. The line
// is skipped: the next one can be read.
var ErrLineTooLong = fmt.Errorf("a line is longer than %d bytes", MaxLine)

// Lines reads lines of at most MaxLine bytes.
type Lines struct {
	r *bufio.Reader
}

// NewLines reads from r.
func NewLines(r io.Reader) *Lines { return &Lines{bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line without its newline, in memory of its own. At the
// end of the input it returns what stands there without a newline together
// with the error (io.EOF).
func (l *Lines) Next() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > MaxLine+1 {
			return nil, l.skip(err)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), err
		}
	}
}

// skip reads on to the end of a line that is too long.
func (l *Lines) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil {
		return err
	}
	return ErrLineTooLong
}

// Quote shows a line that the other side wrote: escaped, and not at length.
func Quote(line []byte) string {
	const most = 200
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + fmt.Sprintf("... (%d bytes)", len(line))
	}
	return strconv.Quote(string(line))
}
