package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// lifelinesOfRun and lifelinesOfPage cap how many servers get a lifeline of
// their own: the others are drawn as one curve for each label.
const (
	lifelinesOfRun  = 80
	lifelinesOfPage = 400
	lifelinesLeast  = 12 // of each run, however many there are

	lifelinesOfLabel = 2 // of each label at least, as long as there is room
	eventsOfServer   = 40
	callsOfServer    = 60
)

// timelineView is the picture of a run: an axis, the steps, and for each
// label a curve and the lifelines of its servers.
type timelineView struct {
	ID     string
	Run    string // prefix of the run's ids
	Desc   string
	Knots  svgPath // "x:ns" pairs for the reading of the crosshair
	Ticks  []tick
	Bands  []bandView
	Notes  []noteView // names of bands
	NoteH  int
	Lanes  laneView
	Found  []foundView
	Blocks []*blockView
	Cap    string // which servers have no lifeline of their own
	Idle   bool
}

type bandView struct{ X, W, Class string }

type noteView struct {
	X, Y   string
	Anchor string
	Class  string
	Text   string `max:"80"`
	Title  string `max:"200"`
}

type blockView struct {
	Label string `max:"80"`
	Sub   string
	Chart *chartView
	Rows  []*rowView
	Rest  *restView
}

// restView stands for the servers of a label that have no lifeline.
type restView struct {
	Text  string
	Chart *chartView
}

type rowView struct {
	ID     string
	Name   string `max:"80"`
	Note   string `max:"80"`
	Class  string
	New    bool // first row of a session
	Title  string
	Bars   []barView
	Calls  []barView
	Marks  []markView
	Fate   string `max:"80"`
	Events []eventView
	More   int
}

type barView struct {
	X, W  string
	Class string
}

type markView struct{ X, Use string }

type eventView struct {
	At    string
	Text  string `max:"400"`
	Class string
}

func newTimeline(s *model.Run, prefix string, most int) *timelineView {
	a := newAxis(moments(s), s.End)
	t := &timelineView{ID: prefix + "timeline", Run: prefix, Ticks: a.ticks(), Knots: knotsOf(a), Idle: len(a.idle) > 0}
	t.Bands, t.Notes, t.NoteH = bands(s, a)
	t.Lanes, t.Found = lanes(s, a), foundMoments(s, a)
	shown := chosen(s, most)
	for _, label := range s.Labels() {
		t.Blocks = append(t.Blocks, newBlock(s, a, prefix, label, shown))
	}
	if host := hostBlock(s, a); host != nil {
		t.Blocks = append(t.Blocks, host)
	}
	if n := len(s.Servers); n > len(shown) {
		t.Cap = fmt.Sprintf("%d of %d servers have a lifeline of their own, those with a finding first; the others are a curve below those of their label.", len(shown), n)
	}
	t.Desc = fmt.Sprintf("%s over %s; %s drawn as lifelines.", words.Plural(len(s.Servers), "server"), words.Span(s.End), words.Plural(len(shown), "server"))
	return t
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
	for _, st := range s.Steps {
		ts = append(ts, st.From, st.To)
	}
	for _, c := range s.Checkpoints {
		ts = append(ts, c.From, c.To)
	}
	for _, g := range hostGaps(s) {
		ts = append(ts, g.From, g.To)
	}
	return ts
}

func knotsOf(a *axis) svgPath {
	parts := make([]string, len(a.knots))
	for i, k := range a.knots {
		parts[i] = fmt.Sprintf("%s:%d", num(k.x), k.t)
	}
	return svgPath(strings.Join(parts, " "))
}

// chosen are the servers that get a lifeline: a few of each label, then those
// with a finding, then the oldest.
func chosen(s *model.Run, most int) map[*model.Server]bool {
	rank := func(f *model.Server) int {
		switch {
		case f.Left:
			return 0
		case f.Overdue >= 0, f.Wronged, f.Zombie:
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
	take(lifelinesOfLabel)
	take(most)
	return shown
}

func newBlock(s *model.Run, a *axis, prefix, label string, shown map[*model.Server]bool) *blockView {
	var mine, rest []*model.Server
	launched := 0
	for _, f := range s.Servers {
		if f.Label != label {
			continue
		}
		launched++
		if shown[f] {
			mine = append(mine, f)
		} else {
			rest = append(rest, f)
		}
	}
	slices.SortStableFunc(mine, func(x, y *model.Server) int {
		return cmp.Or(cmp.Compare(s.SessionRank(x), s.SessionRank(y)), cmp.Compare(x.Born, y.Born))
	})
	block := &blockView{Label: label, Chart: newChart(s, a, label)}
	block.Sub = fmt.Sprintf("%d launched", launched)
	last := ""
	for i, f := range mine {
		row := newRow(s, a, prefix, f)
		row.New = i > 0 && f.Session != last
		last = f.Session
		block.Rows = append(block.Rows, row)
	}
	if len(rest) > 0 {
		chart := curve(a, rest, restHeight)
		block.Rest = &restView{Text: fmt.Sprintf("%d more, %d at most", len(rest), chart.Max), Chart: chart}
	}
	return block
}

func newRow(s *model.Run, a *axis, prefix string, f *model.Server) *rowView {
	r := &rowView{ID: anchor(prefix, f), Name: f.ID, Note: f.Session, Fate: s.Outcome(f)}
	switch {
	case f.Left || f.Overdue >= 0 || f.Zombie:
		r.Class = "bad"
	case f.Wronged:
		r.Class = "bad wronged"
	}
	r.Bars = bars(a, f)
	if f.Zombie && f.Died >= 0 {
		r.Bars = append(r.Bars, unreaped(s, a, f))
	}
	r.Calls = calls(a, f)
	r.Marks = marks(a, f)
	r.Events, r.More = words.FirstOf(historyOf(s, f), eventsOfServer)
	r.Title = fmt.Sprintf("%s, pid %d: born %s, %s", f.ID, f.Birth.PID, words.At(f.Born), r.Fate)
	if f.Died >= 0 {
		r.Title += ", died " + words.At(f.Died)
	}
	return r
}

// anchor is the id of a server's row: made of numbers only, since names are
// not ours.
func anchor(prefix string, f *model.Server) string { return fmt.Sprintf("%ss%d", prefix, f.N) }

func bars(a *axis, f *model.Server) []barView {
	parts := model.Stretches(f)
	out := make([]barView, len(parts))
	for i, p := range parts {
		x0, x1 := a.x(p.From), a.x(p.To)
		if f.Left && i == len(parts)-1 {
			x1 = 100
		}
		out[i] = barView{X: pct(x0), W: pct(max(x1-x0, 0.15)), Class: p.State}
	}
	return out
}

// unreaped runs from a death to the end of the host, whose child it was. Who
// reaped it before that, if anybody did, is not in the run.
func unreaped(s *model.Run, a *axis, f *model.Server) barView {
	x0, x1 := a.x(f.Died), a.x(s.UnreapedUntil(f))
	return barView{X: pct(x0), W: pct(max(x1-x0, 0.15)), Class: "zombie"}
}

func calls(a *axis, f *model.Server) []barView {
	var out []barView
	head, _ := words.FirstOf(f.Calls, callsOfServer)
	for _, c := range head {
		to, class := c.Answered, "call"
		if to < 0 {
			to, class = f.Until, "call hung"
		}
		x0, x1 := a.x(c.Received), a.x(to)
		out = append(out, barView{X: pct(x0), W: pct(max(x1-x0, 0.1)), Class: class})
	}
	return out
}

func marks(a *axis, f *model.Server) []markView {
	var out []markView
	add := func(t int64, use string) {
		if t >= 0 {
			out = append(out, markView{pct(a.x(t)), use})
		}
	}
	add(f.Established, "init")
	add(f.EOF, "eof")
	for _, m := range f.Signals {
		add(m.T, "sig")
	}
	for _, m := range f.Faults {
		if !m.Passive {
			add(m.T, "fault")
		}
	}
	switch {
	case f.Left:
		out = append(out, markView{"100%", "left"})
	case f.Wronged:
		add(f.Died, "wrong")
	case f.Died < 0:
		add(f.Lost, "lost")
	default:
		add(f.Died, "died")
	}
	head, _ := words.FirstOf(out, eventsOfServer)
	return head
}
