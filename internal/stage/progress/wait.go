package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/text"
)

// Waiting is the progress of something that takes its time and tells lines
// meanwhile. Its methods are safe from any goroutine.
type Waiting struct {
	what  string
	begun time.Time
	screen

	mu   sync.Mutex
	last string
}

// Wait begins to show what is waited for: on a terminal with the time and the
// last line that was told, elsewhere once.
func Wait(out io.Writer, mode Mode, what string) *Waiting {
	w := &Waiting{what: text.Printable(what), begun: time.Now(), screen: newScreen()}
	if mode == Plain {
		fmt.Fprintln(out, w.what)
	}
	w.show(out, mode, w.line)
	return w
}

// Line takes note of a line.
func (w *Waiting) Line(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = text.Printable(s)
}

func (w *Waiting) line() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%s  %4.1fs  %s", w.what, time.Since(w.begun).Seconds(), w.last)
}
