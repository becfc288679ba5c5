package attach

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/live"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/watch"
	"github.com/leakbench/leakbench/report/terminal"
)

// Screen shows looks at a host: on a terminal as a table that is drawn anew each time, elsewhere as one now and then.
type Screen struct {
	Out     io.Writer
	Options terminal.Options
	Height  int           // of the terminal; 0: there is none
	Every   time.Duration // between tables where there is none; 0: 30 s

	shown time.Time
	lines int // that stand on the terminal
	fold  *live.Watch
}

// besides is how many lines of the table are no processes, at the most.
const besides = 16

// Look shows a look, where it is time to.
func (s *Screen) Look(l watch.Look, run *record.Run) {
	if s.fold == nil {
		s.fold = live.New(&run.Header)
	}
	at := func(t time.Time) int64 { return int64(t.Sub(run.Header.Started)) }
	s.fold.Apply(&record.Event{T: at(l.At), Kind: record.CensusTaken, Census: &l.Census})
	for _, fact := range l.Facts {
		s.fold.Apply(&record.Event{T: at(fact.At), Kind: record.EvidenceTaken, Evidence: []record.Evidence{fact.Evidence}})
	}
	if s.Height == 0 && l.At.Sub(s.shown) < cmp.Or(s.Every, 30*time.Second) {
		return
	}
	s.shown = l.At
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  leakbench attach, watched for %s\n", l.At.Format(time.TimeOnly), duration.Text(l.At.Sub(run.Header.Started).Truncate(time.Second)))
	terminal.Watched(&b, s.fold.View(), max(0, s.Height-besides), s.Options)
	if s.Height == 0 {
		b.WriteByte('\n')
		_, _ = s.Out.Write(b.Bytes())
		return
	}
	lines := strings.SplitAfter(b.String(), "\n")
	table := strings.Join(lines[:min(len(lines), s.Height-1)], "")
	s.Clear()
	_, _ = io.WriteString(s.Out, table)
	s.lines = strings.Count(table, "\n")
}

// Clear takes the table from the terminal.
func (s *Screen) Clear() {
	if s.lines > 0 {
		fmt.Fprintf(s.Out, "\r\x1b[%dA\x1b[J", s.lines)
		s.lines = 0
	}
}
