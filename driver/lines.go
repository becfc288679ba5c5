package driver

import (
	"fmt"
	"strconv"
)

// MaxLine is the longest line that either side accepts, in bytes, its newline
// left out.
const MaxLine = 4 << 20

// ErrLineTooLong is the error for a line of more than MaxLine bytes. The line
// is skipped: the next one can be read.
var ErrLineTooLong = fmt.Errorf("a line is longer than %d bytes", MaxLine)

// Quote shows a line that the other side wrote: escaped, and not at length.
func Quote(line []byte) string {
	const most = 200
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + fmt.Sprintf("... (%d bytes)", len(line))
	}
	return strconv.Quote(string(line))
}
