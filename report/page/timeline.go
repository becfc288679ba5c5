package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// How many servers the table lists. The script has all of them.
const (
	serversOfRun   = 80
	serversOfPage  = 400
	serversLeast   = 12 // of each run, however many there are
	serversOfLabel = 2  // of each label at least, as long as there is room
)

// timelineView is what the page says of the servers without its script: how
// many there were over time, and what became of each. The script draws the
// lifelines in its place.
type timelineView struct {
	ID      string
	Run     string // prefix of the run's ids
	Desc    string
	Ticks   []tick
	Idle    bool
	Charts  []*chartView
	Servers []serverRow
}

type serverRow struct {
	ID      string
	Class   string
	Label   string `max:"80"`
	Session string `max:"80"`
	Launch  int
	PID     int
	Born    string
	Ended   string
	Outcome string `max:"80"`
	Found   string `max:"120"` // the kinds of the findings that name it
}

func newTimeline(s *model.Run, prefix string, most int) *timelineView {
	a := newAxis(moments(s), s.End)
	t := &timelineView{ID: prefix + "timeline", Run: prefix, Ticks: a.ticks(), Idle: len(a.idle) > 0}
	for _, label := range s.Labels() {
		t.Charts = append(t.Charts, newChart(s, a, label))
	}
	if host := hostChart(s, a); host != nil {
		t.Charts = append(t.Charts, host)
	}
	found, shown := foundIn(s), chosen(s, most)
	for _, row := range payloadRows(s) {
		if f := row.f; f != nil && shown[f] {
			t.Servers = append(t.Servers, newServerRow(s, prefix, f, found[f.ID]))
		}
	}
	t.Desc = fmt.Sprintf("%s over %s.", words.Plural(len(s.Servers), "server"), words.Span(s.End))
	if n := len(s.Servers); n > len(shown) {
		t.Desc += fmt.Sprintf(" %d of %d servers are listed, those with a finding first.", len(shown), n)
	}
	return t
}

func newServerRow(s *model.Run, prefix string, f *model.Server, found []string) serverRow {
	row := serverRow{
		ID: anchor(prefix, f), Label: f.Label, Session: f.Session, Launch: f.Launch, PID: f.Birth.PID, Born: words.At(f.Born),
		Ended: words.At(f.Died), Outcome: s.Outcome(f), Found: strings.Join(found, ", "),
	}
	if serverClass(f) != lineGood {
		row.Class = "bad"
	}
	return row
}

// foundIn is, for each server, what the findings that name it are.
func foundIn(s *model.Run) map[string][]string {
	found := map[string][]string{}
	for i := range s.Verdict.Findings {
		f := &s.Verdict.Findings[i]
		for _, id := range f.Servers {
			if name := f.Law + " " + f.Kind; !slices.Contains(found[id], name) {
				found[id] = append(found[id], name)
			}
		}
	}
	return found
}

// moments are the times that the axis must not shorten away.
func moments(s *model.Run) []int64 {
	var ts []int64
	for _, f := range s.Servers {
		ts = append(ts, f.Born, f.Ready, f.Established, f.EOF, f.Bye, f.Died)
		for _, m := range f.Signals {
			ts = append(ts, m.T)
		}
		for _, m := range f.Faults {
			ts = append(ts, m.T)
		}
	}
	for _, st := range s.History.Steps() {
		ts = append(ts, st.Begun, st.Ended)
	}
	for _, c := range s.History.Checkpoints() {
		ts = append(ts, c.Begun, c.Ended)
	}
	for i, h := range s.History.Hosts() {
		if ts = append(ts, h.Exited); i > 0 {
			ts = append(ts, h.Started)
		}
	}
	return append(ts, s.History.Host().Exited)
}

// chosen are the servers that the table lists: a few of each label, then those
// with a finding, then the oldest.
func chosen(s *model.Run, most int) map[*model.Server]bool {
	rank := func(f *model.Server) int {
		switch {
		case f.Left:
			return 0
		case serverClass(f) != lineGood:
			return 1
		}
		return 2
	}
	order := slices.Clone(s.Servers)
	slices.SortStableFunc(order, func(a, b *model.Server) int { return cmp.Compare(rank(a), rank(b)) })
	shown, ofLabel := map[*model.Server]bool{}, map[string]int{}
	take := func(each int) {
		for _, f := range order {
			if len(shown) < most && !shown[f] && ofLabel[f.Label] < each {
				shown[f] = true
				ofLabel[f.Label]++
			}
		}
	}
	take(serversOfLabel)
	take(most)
	return shown
}

// anchor is the id of a server's row: made of numbers only, since names are
// not ours.
func anchor(prefix string, f *model.Server) string { return fmt.Sprintf("%ss%d", prefix, f.N) }
