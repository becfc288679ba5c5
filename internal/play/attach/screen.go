package attach

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/attach"
	observeattach "github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/terminal"
)

// Screen shows looks at a host: on a terminal as a table that is drawn anew each time, elsewhere as one now and then.
type Screen struct {
	out     io.Writer
	options terminal.Options
	tty     terminalFile  // nil: there is none
	every   time.Duration // between tables where there is none

	// Quiet says that nothing is shown: the looks are kept for who asks for the metrics.
	Quiet bool

	mu    sync.Mutex
	shown time.Time
	drawn bool // a table stands on the terminal
	fold  *attach.Watch
	known map[record.Identity]time.Time // whose facts the fold has, and of when
}

// terminalFile is what can be a terminal.
type terminalFile interface {
	io.Writer
	Fd() uintptr
}

// NewScreen shows looks on a terminal, or where out is none, a table every so often: 0 is 30 s.
func NewScreen(out io.Writer, o terminal.Options, every time.Duration) *Screen {
	s := &Screen{out: out, options: o, every: cmp.Or(every, 30*time.Second)}
	if file, ok := out.(terminalFile); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		s.tty = file
	}
	return s
}

// Redraws says that a table is drawn anew each time.
func (s *Screen) Redraws() bool { return s.tty != nil }

// Look shows a look, where it is time to.
func (s *Screen) Look(l observeattach.Look, run *record.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fold == nil {
		s.fold, s.known = attach.New(&run.Header), map[record.Identity]time.Time{}
	}
	at := func(t time.Time) int64 { return int64(t.Sub(run.Header.Started)) }
	s.fold.Apply(&record.Event{T: at(l.At), Kind: record.CensusTaken, Census: &l.Census})
	for id, fact := range l.Facts {
		if !fact.At.After(s.known[id]) {
			continue
		}
		s.known[id] = fact.At
		fact.Evidence.ReadAgo = new(record.Duration) // it is told as of when it was read
		s.fold.Apply(&record.Event{T: at(fact.At), Kind: record.EvidenceTaken, Evidence: []record.Evidence{fact.Evidence}})
	}
	if s.Quiet || s.tty == nil && l.At.Sub(s.shown) < s.every {
		return
	}
	s.shown = l.At
	head := fmt.Sprintf("%s  leakbench attach, watched for %s\n",
		l.At.Format(time.TimeOnly), duration.Text(l.At.Sub(run.Header.Started).Truncate(time.Second)))
	if view := s.fold.View(); s.tty != nil {
		s.draw(head, view)
	} else {
		_, _ = io.WriteString(s.out, head+table(view, 0, s.options)+"\n")
	}
}

// table is what is below the host, with at most so many processes.
func table(v *attach.View, rows int, o terminal.Options) string {
	var b bytes.Buffer
	terminal.Watched(&b, v, rows, o)
	return b.String()
}

// What the terminal is told (xterm's control sequences): a screen of its own without a cursor, so that nothing is left of the table in
// what was there before, whatever size the window gets; and to cut lines that are too long.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	home, rest  = "\x1b[H", "\x1b[J"
	endLine     = "\x1b[K\r\n"
)

// draw shows as much of a table as fits on the terminal, which may have another size by now.
func (s *Screen) draw(head string, v *attach.View) {
	columns, height, err := term.GetSize(int(s.tty.Fd()))
	if err != nil || height < 2 {
		return
	}
	s.options.Width, s.options.Window, s.options.Verbose = columns, true, false // a table that is cut off says less than one that fits
	text := head + table(v, height, s.options)
	if over := strings.Count(text, "\n") - (height - 1); over > 0 {
		shown := min(height, len(v.Children))
		text = head + table(v, max(1, shown-over-1), s.options) // a line says how many more there are
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	lines = lines[:min(len(lines), height-1)]
	if !s.drawn {
		_, _ = io.WriteString(s.out, enterScreen)
		s.drawn = true
	}
	_, _ = io.WriteString(s.out, home+strings.Join(lines, endLine)+endLine+rest)
}

// Clear takes the table from the terminal.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn {
		_, _ = io.WriteString(s.out, leaveScreen)
		s.drawn = false
	}
}
