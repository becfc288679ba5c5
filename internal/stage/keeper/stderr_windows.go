package keeper

import (
	"fmt"
	"io"
	"os"
)

// stderrLog takes what a host writes to stderr into a file, up to maxStderr.
type stderrLog struct{ pipe, file *os.File }

func newStderrLog(pipe, file *os.File) *stderrLog { return &stderrLog{pipe, file} }

// drain returns when nobody holds the other end any more.
func (l *stderrLog) drain() {
	defer l.file.Close()
	defer l.pipe.Close()
	if n, _ := io.Copy(l.file, io.LimitReader(l.pipe, maxStderr)); n == maxStderr {
		fmt.Fprintf(l.file, "\n[leakbench: cut off after %d MiB]\n", maxStderr>>20)
	}
	_, _ = io.Copy(io.Discard, l.pipe)
}

// flush does nothing here: a pipe can't be read while another thread waits for it.
func (l *stderrLog) flush() {}
