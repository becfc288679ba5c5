package keeper

import (
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
	_, _ = io.Copy(&cappedFile{file: l.file}, l.pipe)
}

// flush does nothing here: a pipe can't be read while another thread waits for it.
func (l *stderrLog) flush() {}
