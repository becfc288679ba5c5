package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/text"
)

// Counting is the progress of a known number of things: on a terminal a bar with the time
// that is left, elsewhere a line for each. Its methods are safe from any goroutine.
type Counting struct {
	out   io.Writer
	mode  Mode
	begun time.Time
	now   func() time.Time
	screen

	mu              sync.Mutex
	done, left, bad int
	rest            time.Duration // about how long what is left takes, at the time counted
	counted         time.Time
	last            string
	lines           []string // that stay, above the bar
}

// Count begins to show how far something has come, of which left things are to be done.
func Count(out io.Writer, mode Mode, left int) *Counting {
	c := &Counting{out: out, mode: mode, begun: time.Now(), now: time.Now, left: left, screen: newScreen()}
	c.show(out, mode, nil, c.line)
	return c
}

// Ended says that one more is done, in a line that stays; whether it failed; and how many are left.
func (c *Counting) Ended(line string, failed bool, left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.one(left)
	if failed {
		c.bad++
	}
	if line = text.Printable(line); c.mode == Plain {
		fmt.Fprintln(c.out, line)
	} else {
		c.lines = append(c.lines, line)
	}
}

// Done says that one more is done, what came of it, and how many are left.
func (c *Counting) Done(what string, left int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.one(left)
	c.last = text.Printable(what)
	if c.mode == Plain {
		fmt.Fprintf(c.out, "[%d/%d] %s%s\n", c.done, c.done+c.left, c.last, c.remaining(", "))
	}
}

// one counts one that is done. What is left takes as long for each as it took so far.
func (c *Counting) one(left int) {
	c.done, c.left, c.counted = c.done+1, left, c.now()
	c.rest = c.counted.Sub(c.begun) / time.Duration(c.done) * time.Duration(left)
}

// remaining is about how long the rest will take. It runs down until the next one is done, and then says nothing.
func (c *Counting) remaining(before string) string {
	rest := c.rest - c.now().Sub(c.counted)
	if c.done == 0 || c.left == 0 || rest <= 0 {
		return ""
	}
	step := time.Second
	if rest >= time.Minute {
		step = time.Minute
	}
	return fmt.Sprintf("%sabout %s left", before, duration.Text(max(rest.Round(step), time.Second)))
}

// Stop ends the show, clears the bar, and leaves the lines.
func (c *Counting) Stop() {
	c.screen.Stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave()
}

// leave writes the lines that stay.
func (c *Counting) leave() {
	for _, line := range c.lines {
		fmt.Fprintf(c.out, "\r\x1b[K%s\n", line)
	}
	c.lines = nil
}

func (c *Counting) line() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.done + c.left
	if c.bad > 0 {
		c.last = text.Count(c.bad, "failure")
	}
	c.leave()
	return fmt.Sprintf("%s %d/%d%s  %s  %s",
		bar(barWidth, c.done, all), c.done, all, c.remaining("  "), duration.Text(c.now().Sub(c.begun).Round(time.Second)), c.last)
}

// Waiting is the progress of something that takes its time and prints lines meanwhile. Its methods are safe from any goroutine.
type Waiting struct {
	what  string
	begun time.Time
	screen

	mu   sync.Mutex
	last string
}

// Wait begins to show what is waited for: on a terminal with the time and the newest line, elsewhere once.
func Wait(out io.Writer, mode Mode, what string) *Waiting {
	w := &Waiting{what: text.Printable(what), begun: time.Now(), screen: newScreen()}
	if mode == Plain {
		fmt.Fprintln(out, w.what)
	}
	w.show(out, mode, nil, w.line)
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
