package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
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

func (s *story) timeline(prefix string, most int) *timelineView {
	a := newAxis(s.moments(), s.end)
	t := &timelineView{ID: prefix + "timeline", Run: prefix, Ticks: a.ticks(), Knots: knotsOf(a), Idle: len(a.idle) > 0}
	t.Bands, t.Notes, t.NoteH = s.bands(a)
	t.Lanes, t.Found = s.lanes(a), s.found(a)
	shown := s.chosen(most)
	for _, label := range s.labels() {
		t.Blocks = append(t.Blocks, s.block(a, prefix, label, shown))
	}
	if host := s.hostBlock(a); host != nil {
		t.Blocks = append(t.Blocks, host)
	}
	if n := len(s.fates); n > len(shown) {
		t.Cap = fmt.Sprintf("%d of %d servers have a lifeline of their own, those with a finding first; the others are a curve below those of their label.", len(shown), n)
	}
	t.Desc = fmt.Sprintf("%s over %s; %s drawn as lifelines.", plural(len(s.fates), "server"), span(s.end), plural(len(shown), "server"))
	return t
}

// moments are the times that the axis must not shorten away.
func (s *story) moments() []int64 {
	var ts []int64
	for _, f := range s.fates {
		ts = append(ts, f.Born, f.Ready, f.Established, f.EOF, f.Bye, f.Died)
		for _, m := range f.Signals {
			ts = append(ts, m.T)
		}
		for _, m := range f.Faults {
			ts = append(ts, m.T)
		}
	}
	for _, st := range s.steps {
		ts = append(ts, st.from, st.to)
	}
	for _, c := range s.checkpoints {
		ts = append(ts, c.from, c.to)
	}
	for _, g := range s.gaps() {
		ts = append(ts, g.from, g.to)
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

// labels are the servers' names in the order of the plan, then of birth.
func (s *story) labels() []string {
	var out []string
	add := func(l string) {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	born := map[string]bool{}
	for _, f := range s.fates {
		born[f.Label] = true
	}
	for _, l := range s.header.Plan.Labels {
		if born[l.Label] {
			add(l.Label)
		}
	}
	for _, f := range s.fates {
		if len(out) < maxLabels {
			add(f.Label)
		}
	}
	return out
}

// maxLabels bounds the blocks of a timeline: labels come from the scenario,
// but a file can say anything.
const maxLabels = 40

// chosen are the servers that get a lifeline: a few of each label, then those
// with a finding, then the oldest.
func (s *story) chosen(most int) map[*fate]bool {
	rank := func(f *fate) int {
		switch {
		case f.left:
			return 0
		case f.overdue >= 0, f.wronged, f.zombie:
			return 1
		}
		return 2
	}
	order := slices.Clone(s.fates)
	slices.SortStableFunc(order, func(a, b *fate) int { return cmp.Compare(rank(a), rank(b)) })
	shown, ofLabel := map[*fate]bool{}, map[string]int{}
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

func (s *story) block(a *axis, prefix, label string, shown map[*fate]bool) *blockView {
	var mine, rest []*fate
	launched := 0
	for _, f := range s.fates {
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
	slices.SortStableFunc(mine, func(x, y *fate) int {
		return cmp.Or(cmp.Compare(s.sessionRank(x), s.sessionRank(y)), cmp.Compare(x.Born, y.Born))
	})
	block := &blockView{Label: label, Chart: s.chart(a, label)}
	block.Sub = fmt.Sprintf("%d launched", launched)
	last := ""
	for i, f := range mine {
		row := s.row(a, prefix, f)
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

// sessionRank orders sessions by the birth of their first server.
func (s *story) sessionRank(f *fate) int64 {
	if s.firstBirth == nil {
		s.firstBirth = map[string]int64{}
		for _, o := range s.fates {
			key := o.Label + "\x00" + o.Session
			if _, ok := s.firstBirth[key]; !ok {
				s.firstBirth[key] = o.Born
			}
		}
	}
	return s.firstBirth[f.Label+"\x00"+f.Session]
}

func (s *story) row(a *axis, prefix string, f *fate) *rowView {
	r := &rowView{ID: anchor(prefix, f), Name: f.ID, Note: f.Session, Fate: s.outcome(f)}
	switch {
	case f.left || f.overdue >= 0 || f.zombie:
		r.Class = "bad"
	case f.wronged:
		r.Class = "bad wronged"
	}
	r.Bars = bars(a, f)
	if f.zombie && f.Died >= 0 {
		r.Bars = append(r.Bars, s.unreaped(a, f))
	}
	r.Calls = calls(a, f)
	r.Marks = marks(a, f)
	r.Events, r.More = firstOf(s.historyOf(f), eventsOfServer)
	r.Title = fmt.Sprintf("%s, pid %d: born %s, %s", f.ID, f.Birth.PID, at(f.Born), r.Fate)
	if f.Died >= 0 {
		r.Title += ", died " + at(f.Died)
	}
	return r
}

// anchor is the id of a server's row: made of numbers only, since names are
// not ours.
func anchor(prefix string, f *fate) string { return fmt.Sprintf("%ss%d", prefix, f.n) }

// stretch is a part of a life in one state.
type stretch struct {
	from, to int64
	state    string // start, work, broken, leave, over
}

// stretches cut a life into the states it passed through.
func stretches(f *fate) []stretch {
	leaving := never
	for _, t := range []int64{f.EOF, f.Term, f.Bye} {
		if t >= 0 && (leaving < 0 || t < leaving) {
			leaving = t
		}
	}
	cuts := []int64{f.Born, f.until}
	for _, t := range []int64{f.Established, f.Broken, leaving, f.overdue} {
		if t > f.Born && t < f.until {
			cuts = append(cuts, t)
		}
	}
	slices.Sort(cuts)
	since := func(t, begun int64) bool { return begun >= 0 && t >= begun }
	var out []stretch
	for i := 1; i < len(cuts); i++ {
		from, to, state := cuts[i-1], cuts[i], "start"
		switch {
		case since(from, f.overdue):
			state = "over"
		case since(from, leaving):
			state = "leave"
		case since(from, f.Broken):
			state = "broken"
		case since(from, f.Established):
			state = "work"
		}
		if f.left && i == len(cuts)-1 {
			state = "over"
		}
		if n := len(out); n > 0 && out[n-1].state == state {
			out[n-1].to = to
			continue
		}
		out = append(out, stretch{from, to, state})
	}
	return out
}

func bars(a *axis, f *fate) []barView {
	parts := stretches(f)
	out := make([]barView, len(parts))
	for i, p := range parts {
		x0, x1 := a.x(p.from), a.x(p.to)
		if f.left && i == len(parts)-1 {
			x1 = 100
		}
		out[i] = barView{X: pct(x0), W: pct(max(x1-x0, 0.15)), Class: p.state}
	}
	return out
}

// unreaped runs from a death to the end of the host, whose child it was. Who
// reaped it before that, if anybody did, is not in the run.
func (s *story) unreaped(a *axis, f *fate) barView {
	x0, x1 := a.x(f.Died), a.x(s.unreapedUntil(f))
	return barView{X: pct(x0), W: pct(max(x1-x0, 0.15)), Class: "zombie"}
}

func (s *story) unreapedUntil(f *fate) int64 {
	if gone := s.hostGoneFor(f); gone >= 0 {
		return max(gone, f.Died)
	}
	return s.end
}

func calls(a *axis, f *fate) []barView {
	var out []barView
	head, _ := firstOf(f.Calls, callsOfServer)
	for _, c := range head {
		to, class := c.Answered, "call"
		if to < 0 {
			to, class = f.until, "call hung"
		}
		x0, x1 := a.x(c.Received), a.x(to)
		out = append(out, barView{X: pct(x0), W: pct(max(x1-x0, 0.1)), Class: class})
	}
	return out
}

func marks(a *axis, f *fate) []markView {
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
	case f.left:
		out = append(out, markView{"100%", "left"})
	case f.wronged:
		add(f.Died, "wrong")
	case f.Died < 0:
		add(f.Lost, "lost")
	default:
		add(f.Died, "died")
	}
	head, _ := firstOf(out, eventsOfServer)
	return head
}
