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
	"github.com/leakbench/leakbench/internal/judge/live"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/watch"
	"github.com/leakbench/leakbench/report/terminal"
)

// Screen shows looks at a host: on a terminal as a table that is drawn anew each time, elsewhere as one now and then.
type Screen struct {
	out     io.Writer
	options terminal.Options
	height  int           // of the terminal; 0: there is none
	every   time.Duration // between tables where there is none

	// Quiet says that nothing is shown: the looks are kept for who asks for the metrics.
	Quiet bool

	mu    sync.Mutex
	shown time.Time
	lines int // that stand on the terminal
	fold  *live.Watch
	known map[record.Identity]time.Time // whose facts the fold has, and of when
}

// NewScreen shows looks on a terminal, or where out is none, a table every so often: 0 is 30 s.
func NewScreen(out io.Writer, o terminal.Options, every time.Duration) *Screen {
	s := &Screen{out: out, options: o, every: cmp.Or(every, 30*time.Second)}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return s
	}
	if _, rows, err := term.GetSize(int(file.Fd())); err == nil {
		s.height = rows
	}
	return s
}

// Live says that a table is drawn anew each time.
func (s *Screen) Live() bool { return s.height > 0 }

// besides is how many lines of the table are no processes, at the most.
const besides = 16

// Look shows a look, where it is time to.
func (s *Screen) Look(l watch.Look, run *record.Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fold == nil {
		s.fold, s.known = live.New(&run.Header), map[record.Identity]time.Time{}
	}
	at := func(t time.Time) int64 { return int64(t.Sub(run.Header.Started)) }
	s.fold.Apply(&record.Event{T: at(l.At), Kind: record.CensusTaken, Census: &l.Census})
	for id, fact := range l.Facts {
		if !fact.At.After(s.known[id]) {
			continue
		}
		s.known[id] = fact.At
		s.fold.Apply(&record.Event{T: at(fact.At), Kind: record.EvidenceTaken, Evidence: []record.Evidence{fact.Evidence}})
	}
	if s.Quiet || s.height == 0 && l.At.Sub(s.shown) < s.every {
		return
	}
	s.shown = l.At
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  leakbench attach, watched for %s\n", l.At.Format(time.TimeOnly), duration.Text(l.At.Sub(run.Header.Started).Truncate(time.Second)))
	terminal.Watched(&b, s.fold.View(), max(0, s.height-besides), s.options)
	if s.height == 0 {
		b.WriteByte('\n')
		_, _ = s.out.Write(b.Bytes())
		return
	}
	lines := strings.SplitAfter(b.String(), "\n")
	table := strings.Join(lines[:min(len(lines), s.height-1)], "")
	s.clear()
	_, _ = io.WriteString(s.out, table)
	s.lines = strings.Count(table, "\n")
}

// Clear takes the table from the terminal.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
}

func (s *Screen) clear() {
	if s.lines > 0 {
		fmt.Fprintf(s.out, "\r\x1b[%dA\x1b[J", s.lines)
		s.lines = 0
	}
}
