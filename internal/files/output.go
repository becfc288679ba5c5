package files

import (
	"cmp"
	"errors"
	"os"
	"syscall"
)

// Output is a file that is written to line by line. It remembers that it could not be, so that nobody has to ask after each line. That
// nobody reads a pipe is no failure.
type Output struct {
	*os.File
	Failed error
}

func (o *Output) Write(b []byte) (int, error) {
	n, err := o.File.Write(b)
	if !errors.Is(err, syscall.EPIPE) {
		o.Failed = cmp.Or(o.Failed, err)
	}
	return n, err
}

// WriteString is not to go past Write.
func (o *Output) WriteString(line string) (int, error) { return o.Write([]byte(line)) }
