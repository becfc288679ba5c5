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
	out   io.Writer
	what  string
	begun time.Time
	stop  chan struct{}
	over  chan struct{}

	mu   sync.Mutex
	last string
}

// Wait begins to show what is waited for: on a terminal with the time and the
// last line that was told, elsewhere once.
func Wait(out io.Writer, mode Mode, what string) *Waiting {
	w := &Waiting{out: out, what: text.Printable(what), begun: time.Now(), stop: make(chan struct{}), over: make(chan struct{})}
	switch mode {
	case Live:
		go w.redraw()
	case Plain:
		fmt.Fprintln(out, w.what)
		fallthrough
	default:
		close(w.over)
	}
	return w
}

// Line takes note of a line.
func (w *Waiting) Line(s string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = text.Printable(s)
}

func (w *Waiting) redraw() {
	defer close(w.over)
	redraw(w.out, w.stop, w.line)
}

func (w *Waiting) line() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%s  %4.1fs  %s", w.what, time.Since(w.begun).Seconds(), w.last)
}

// Stop ends the show and clears the line. It is to be called once.
func (w *Waiting) Stop() {
	close(w.stop)
	<-w.over
}
