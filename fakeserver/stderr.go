package fakeserver

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/leakbench/leakbench/internal/stage/birth"
)

// What the bench is told of a server's stderr at most.
const (
	toldWrites = 32  // of a process
	toldBytes  = 400 // of a write
	bigWrite   = 64 << 10
)

// stderrTap is stderr, of which the bench is told: where a host mixes the stderr of
// all its servers, or throws it away, nobody else knows which process wrote
// what. It is told before the write, which may wait for a reader for ever, and
// of what a pipe can't hold also when it is through.
type stderrTap struct {
	to    io.Writer
	bench bench
	mu    sync.Mutex
	n     int
}

func (w *stderrTap) Write(p []byte) (int, error) {
	w.tell(excerpt(p))
	n, err := w.to.Write(p)
	if err == nil && len(p) > bigWrite {
		w.tell(fmt.Sprintf("somebody has read it: %d KiB went out", len(p)>>10))
	}
	return n, err
}

func (w *stderrTap) tell(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n++; w.n > toldWrites {
		return
	}
	if w.n == toldWrites {
		text = "what follows is not told"
	}
	w.bench.note(birth.Note{Note: birth.NoteStderr, Text: text})
}

// excerpt is a short write as it is, and of a long one how long it is and its
// first line.
func excerpt(p []byte) string {
	if len(p) <= toldBytes {
		return strings.ToValidUTF8(strings.TrimRight(string(p), "\n"), "\uFFFD")
	}
	first, _, _ := bytes.Cut(p[:toldBytes], []byte("\n"))
	return fmt.Sprintf("%d KiB, which begin: %s", (len(p)+1023)>>10, strings.ToValidUTF8(string(first), "\uFFFD"))
}
