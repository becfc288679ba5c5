package doubts

import (
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
)

// slowControl is what a server without faults may take to exit. It is far more than any does on a machine with hogged
// processors, and less than the settle time of a host of which nothing is known.
const slowControl = record.Duration(5e9)

// doubtControls says of which servers it is not known that they would end by themselves: what the host leaves of
// those is not the host's doing for certain. Files of before there were controls ask for none.
func (f *search) doubtControls() {
	if !f.Header.Limits.Controls {
		return
	}
	labels, _ := lists.GroupBy(f.servers, func(s *history.Server) string { return s.Label })
	for _, label := range labels {
		c, ok := f.Controls()[label]
		switch {
		case !ok:
			f.doubt(record.DoubtControlMissing, "the server %s was not tried without the host, so it is unknown whether it exits by itself",
				prose.Plain(label))
		case len(c.Faults) > 0:
		case !c.Answered:
			f.doubt(record.DoubtControlFailed, "without the host, too, the server %s did not answer its handshake, although its script allows it",
				prose.Plain(label))
		case !c.Exited:
			f.doubt(record.DoubtControlFailed,
				"without the host, too, the server %s was still running %s after stdin EOF, although its script allows it to exit",
				prose.Plain(label), prose.Span(c.After))
		case c.After > slowControl:
			f.doubt(record.DoubtControlLate,
				"without the host, too, the server %s took %s to exit after stdin EOF, although its script allows it to exit at once",
				prose.Plain(label), prose.Span(c.After))
		}
	}
}
