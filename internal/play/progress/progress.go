// Package progress shows a run while it runs: one status line on a terminal, a plain line for each milestone elsewhere.
package progress

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Mode is how progress is shown.
type Mode int

// The modes.
const (
	None Mode = iota
	Plain
	Live
)

const (
	redrawEvery = 80 * time.Millisecond
	barWidth    = 20
)

// Params say what is shown where.
type Params struct {
	Out            io.Writer
	Mode           Mode
	Scenario, Host string
	Steps          int // about how many steps there are
	Width          int // columns of the terminal; 0: not known
	Limits         record.Limits
}

// Line is the progress of one run. Its methods are safe from any goroutine.
type Line struct {
	p     Params
	begun time.Time

	mu    sync.Mutex
	seen  tally
	doing string
	since time.Duration // when a checkpoint began that has not ended; 0: there is none

	lines chan string // that stay, for the goroutine that writes
	screen
}

// backlog is how many plain lines may wait for a reader that does not read;
// the ones after that are dropped: a run must not wait for its audience.
const backlog = 1000

// Start begins to show a run.
func Start(p Params) *Line {
	p.Scenario, p.Host = text.Printable(p.Scenario), text.Printable(p.Host)
	l := &Line{
		p: p, begun: time.Now(), seen: newTally(),
		lines: make(chan string, backlog), screen: newScreen(),
	}
	if p.Mode == Plain {
		l.say("%s on %s\n", p.Scenario, p.Host)
		go l.write()
		return l
	}
	l.show(p.Out, p.Mode, l.lines, func() string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.line(time.Since(l.begun))
	})
	return l
}

func (l *Line) say(format string, args ...any) {
	select {
	case l.lines <- fmt.Sprintf(format, args...):
	default:
	}
}

func (l *Line) write() {
	defer bug.Ends()
	defer close(l.over)
	for {
		select {
		case line := <-l.lines:
			fmt.Fprint(l.p.Out, line)
		case <-l.stop:
			for len(l.lines) > 0 {
				fmt.Fprint(l.p.Out, <-l.lines)
			}
			return
		}
	}
}

// Event takes note of an event. It never waits for who reads the output.
func (l *Line) Event(e record.Event) {
	if l.p.Mode == None {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen.add(&e)
	switch e.Kind {
	case record.StepBegun:
		l.doing = describe(*e.Step)
	case record.HostReady:
		if e.Hello != nil && e.Hello.Limits != nil {
			l.p.Limits = *e.Hello.Limits
		}
	case record.CheckpointBegun:
		l.doing, l.since = text.Printable(e.Checkpoint.Name), time.Since(l.begun)
	case record.CheckpointEnded:
		l.since = 0
		if l.p.Mode == Plain {
			l.milestone(*e.Checkpoint)
		}
	}
}

// Waiting says what a checkpoint waits for. Nobody should sit before a line that does not move without knowing why, and for how long.
func (l *Line) Waiting(checkpoint, what string) {
	if l.p.Mode != None {
		l.say("  %s: %s\n", text.Printable(checkpoint), text.Printable(what))
	}
}

func (l *Line) milestone(c record.Checkpoint) {
	state := "as expected"
	if !c.Quiet {
		state = "unexpected state"
	}
	why := ""
	switch {
	case c.Early == record.EarlyFast:
		why = " (given up: this run is to be fast)"
	case c.Stretched > 0:
		why = fmt.Sprintf(" (%s longer than the limit, as processes had to wait for a processor)", c.Stretched)
	case c.Early == record.EarlyFinal:
		why = " (nobody was left who could change it)"
	case c.Early == record.EarlyWaited:
		why = " (what is left was watched before)"
	}
	l.say("  %s: %d live, %d spawned, %s after %s%s\n", text.Printable(c.Name), len(l.seen.alive), l.seen.spawned, state,
		c.Waited, why)
}

// describe is a step in a few words.
func describe(s record.Step) string {
	words := slices.DeleteFunc([]string{string(s.Op), s.Session, s.Detail}, func(w string) bool { return w == "" })
	return text.Printable(strings.Join(words, " "))
}

// screen is what is shown until it is stopped.
type screen struct{ stop, over chan struct{} }

func newScreen() screen { return screen{make(chan struct{}), make(chan struct{})} }

// show begins to draw a line again and again, on a terminal, and clears it in the end. Lines that stay go above it.
func (s screen) show(out io.Writer, mode Mode, stay <-chan string, line func() string) {
	if mode != Live {
		close(s.over)
		return
	}
	go func() {
		defer bug.Ends()
		defer close(s.over)
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for {
			// A terminal that has become narrower meanwhile cuts it: autowrap is off.
			fmt.Fprintf(out, "\r\x1b[?7l%s\x1b[K\x1b[?7h", line())
			select {
			case <-ticker.C:
			case above := <-stay:
				fmt.Fprint(out, "\r\x1b[K"+above)
			case <-s.stop:
				fmt.Fprint(out, "\r\x1b[K")
				return
			}
		}
	}()
}

// Stop ends the show and clears the line.
func (s screen) Stop() {
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	<-s.over
}

// bar is so wide, and shows how much of all is done.
func bar(wide, done, all int) string {
	filled := wide * done / max(all, 1)
	return strings.Repeat("█", filled) + strings.Repeat("░", wide-filled)
}

// line is what is shown after some time, with what matters first: a narrow terminal cuts the rest.
func (l *Line) line(took time.Duration) string {
	wide := barWidth
	if l.p.Width < 110 {
		wide = barWidth / 2
	}
	done := l.seen.done
	steps := max(l.p.Steps, done, 1)
	shown := fmt.Sprintf("%s on %s %s %d/%d  live %d  faults %d  %.1f s", l.p.Scenario, l.p.Host, bar(wide, done, steps), done, steps,
		len(l.seen.alive), l.seen.faults, took.Seconds())
	// A checkpoint takes as long as the host takes to clean up, which nothing before it tells: only what it takes at
	// the most is known, unless the machine is too busy to look.
	if l.since > 0 {
		most := max(l.p.Limits.Settle.D()+l.p.Limits.Confirm.D()-(took-l.since), 0)
		shown += fmt.Sprintf(", <%.0f s left at checkpoint %s", math.Ceil(most.Seconds()), l.doing)
	} else {
		shown += left(took, done, steps) + "  " + l.doing
	}
	if l.p.Width >= 110 {
		shown += fmt.Sprintf("  (%d spawned)", l.seen.spawned)
	}
	return cut(strings.TrimRight(shown, " "), l.p.Width)
}

// tally counts what a line shows.
type tally struct {
	alive         map[string]bool // servers, by id
	spawned, done int             // servers; steps and checkpoints that are over
	faults        int
}

func newTally() tally { return tally{alive: map[string]bool{}} }

func (t *tally) add(e *record.Event) {
	switch e.Kind {
	case record.Born:
		t.alive[e.Server] = true
		t.spawned++
	case record.Died, record.Lost:
		delete(t.alive, e.Server)
	case record.StepEnded, record.StepSkipped, record.CheckpointEnded:
		t.done++
	case record.Faulted:
		t.faults++
	}
}

// cut keeps a line within so many columns: 0 is any.
func cut(line string, columns int) string {
	if columns <= 1 || text.Width(line) <= columns {
		return line
	}
	line, _ = text.Split(line, columns-1)
	return strings.TrimRight(line, " ") + "…"
}

// left guesses the time that remains, once enough has gone by to guess from.
func left(took time.Duration, done, steps int) string {
	if done < 3 || done >= steps || took < time.Second {
		return ""
	}
	rest := took / time.Duration(done) * time.Duration(steps-done)
	if rest < time.Second {
		return ""
	}
	return fmt.Sprintf(", ~%.0f s left", rest.Seconds())
}
