package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
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

// timelineView is what the page says of the servers without its script: how many there were over time, and what
// became of each. The script draws the lifelines in its place.
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
	t.Desc = fmt.Sprintf("%s over %s.", text.Count(len(s.Servers), "server"), duration.Text(s.End))
	if s.Header.Host.Kind == record.KindAttached { // its servers are in no ledger
		t.Desc = fmt.Sprintf("The host over %s.", duration.Text(s.End))
	}
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

// chosen are the servers that the table lists: a few of each label, then those with a finding, then the oldest.
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

// anchor is the id of a server's row: made of numbers only, since names are not ours.
func anchor(prefix string, f *model.Server) string { return fmt.Sprintf("%ss%d", prefix, f.N) }

const (
	chartHeight = 44
	chartWidth  = 1000 // units of the path; it is stretched to the plot's width
	chartCells  = 400  // more changes than this are drawn as extremes
)

// chartView is a step chart: how many servers were alive, how many of them
// should have been gone, and how many the host was entitled to.
type chartView struct {
	Label  string `max:"80"`
	Sub    string
	Height int
	Right  []string
	Alive  string `max:"100000"` // the d of a path: made of numbers, by us
	Over   string `max:"100000"`
	Owed   string `max:"100000"`
	Title  string
}

func newChart(s *model.Run, a *axis, label string) *chartView {
	var mine []*model.Server
	for _, f := range s.Servers {
		if f.Label == label {
			mine = append(mine, f)
		}
	}
	owed := s.Owed(label)
	alive, over := model.LevelsOf(mine)
	most, top := model.Highest(alive), max(model.Highest(alive), model.Highest(owed), 1)
	c := &chartView{
		Label: label, Sub: fmt.Sprintf("%d launched", len(mine)), Height: chartHeight, Right: []string{fmt.Sprintf("%d alive at most", most)},
		Title: fmt.Sprintf("Live servers of %s over time: %d at most", words.Clean(label, words.MaxName), most),
		Alive: area(a, alive, top), Over: area(a, over, top), Owed: stairs(a, owed, top, ""),
	}
	if len(owed) > 0 {
		c.Right = append(c.Right, fmt.Sprintf("%d expected at most", model.Highest(owed)))
	}
	return c
}

// point is a level in the units of a path.
type point struct{ x, y float64 }

func points(a *axis, levels []model.Level, top int64) []point {
	if len(levels) > chartCells {
		levels = extremes(a, levels)
	}
	out := make([]point, 0, len(levels))
	for _, l := range levels {
		y := float64(chartHeight-1) - float64(l.N)/float64(top)*float64(chartHeight-4)
		out = append(out, point{a.x(l.T) * chartWidth / 100, y})
	}
	return out
}

// extremes keeps, of each cell of the plot, the lowest and the highest level and the last: a peak is never lost.
func extremes(a *axis, levels []model.Level) []model.Level {
	cell := func(l model.Level) int { return int(a.x(l.T) * chartCells / 100) }
	var out []model.Level
	for i := 0; i < len(levels); {
		j, lo, hi := i, i, i
		for ; j < len(levels) && cell(levels[j]) == cell(levels[i]); j++ {
			if levels[j].N < levels[lo].N {
				lo = j
			}
			if levels[j].N > levels[hi].N {
				hi = j
			}
		}
		keep := []int{lo, hi, j - 1}
		slices.Sort(keep)
		for _, k := range slices.Compact(keep) {
			out = append(out, levels[k])
		}
		i = j
	}
	return out
}

// stairs is the path of a step curve from the first level to the right edge.
func stairs(a *axis, levels []model.Level, top int64, end string) string {
	ps := points(a, levels, top)
	if len(ps) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %d", num(ps[0].x), chartHeight-1)
	for _, p := range ps {
		fmt.Fprintf(&b, "H%sV%s", num(p.x), num(p.y))
	}
	fmt.Fprintf(&b, "H%d%s", chartWidth, end)
	return b.String()
}

func area(a *axis, levels []model.Level, top int64) string {
	return stairs(a, levels, top, fmt.Sprintf("V%dZ", chartHeight-1))
}

// hostChart is the chart of the host itself: its open descriptors and the
// zombies below it, as often as a census was taken. Nil for a few looks only.
func hostChart(s *model.Run, a *axis) *chartView {
	seen := slices.DeleteFunc(slices.Clone(s.History.Samples()), func(one history.Sample) bool { return hostFDs(&one) < 0 })
	if len(seen) < 3 {
		return nil
	}
	fds, zombies := sampled(s, hostFDs), sampled(s, func(one *history.Sample) int { return one.Zombies })
	first, last := seen[0].Host, seen[len(seen)-1].Host
	most, dead := model.Highest(fds), model.Highest(zombies)
	top := max(most, dead, 1)
	c := &chartView{
		Label:  s.Header.Host.Kind.Subject(),
		Sub:    fmt.Sprintf("fds %d to %d, RSS %s to %s", first.FDs, last.FDs, words.Size(first.RSS), words.Size(last.RSS)),
		Height: chartHeight, Alive: area(a, fds, top),
		Right: []string{fmt.Sprintf("%d fds at most", most), text.Count(int(dead), "zombie") + " at most"},
		Title: fmt.Sprintf("Open file descriptors of the %s: %d at most; zombies: %d at most", s.Header.Host.Kind.Subject(), most, dead),
	}
	if dead > 0 {
		c.Over = area(a, zombies, top)
	}
	return c
}
