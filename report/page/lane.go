package page

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

const (
	laneHeight = 15
	laneMost   = 4
	laneSteps  = 600
	// charRoom is the share of the plot, in per cent, that a character of a
	// label takes on a plot of ordinary width.
	charRoom  = 0.78
	noteLines = 3
	bandsMost = 300
)

// laneView is the steps of a run, drawn above the lifelines.
type laneView struct {
	Height int
	Steps  []laneStep
	Text   string
}

type laneStep struct {
	X, Y, W string
	TX, TY  string
	Class   string
	Text    string `max:"80"`
	Title   string `max:"300"`
}

// lanes packs the steps into few lines. Of steps too narrow to be told apart
// only one is drawn; the table of steps has them all.
func lanes(s *model.Run, a *axis) laneView {
	v := laneView{}
	var ends [laneMost]float64
	used, drawn := 0, 0
	for _, st := range s.Steps {
		x0, x1 := a.x(st.From), a.x(st.To)
		w := math.Max(x1-x0, 0.25)
		lane := laneMost - 1
		for i := range ends {
			if ends[i] <= x0 {
				lane = i
				break
			}
		}
		if drawn >= laneSteps || ends[lane] > x0+0.2 && model.AsExpected(st) {
			continue
		}
		ends[lane] = math.Max(ends[lane], x0+w)
		used = max(used, lane+1)
		drawn++
		v.Steps = append(v.Steps, newLaneStep(st, x0, w, lane))
	}
	v.Height = used * laneHeight
	v.Text = words.Plural(len(s.Steps), "step")
	if drawn < len(s.Steps) {
		v.Text = fmt.Sprintf("%d of %d steps", drawn, len(s.Steps))
	}
	return v
}

func newLaneStep(st *model.Step, x0, w float64, lane int) laneStep {
	v := laneStep{
		X: pct(x0), Y: num(float64(lane*laneHeight + 1)), W: pct(w), Class: "step " + stepClass(st),
		TX: pct(x0 + 0.35), TY: num(float64(lane*laneHeight + 11)),
		Title: fmt.Sprintf("%s, step %d, %s, took %s", words.Clean(model.StepTitle(st), words.MaxName*2), st.N, words.At(st.From), words.Span(st.To-st.From)),
	}
	for _, text := range []string{words.Clean(model.StepName(st), words.MaxName), words.Clean(string(st.Op), words.MaxName)} {
		if float64(utf8.RuneCountInString(text))*charRoom+0.7 <= w {
			v.Text = text
			break
		}
	}
	return v
}

func stepClass(st *model.Step) string {
	switch {
	case !model.AsExpected(st):
		return "odd"
	case st.Skipped:
		return "skip"
	}
	switch st.Op {
	case record.OpBreak, record.OpKill:
		return "hit"
	case record.OpClose, record.OpStop, record.OpTerm, record.OpReload, record.OpCancel:
		return "endop"
	}
	return "plain"
}

// bands are what lies behind the lifelines: shortened stretches, checkpoints,
// forced deaths, and the time after the host's end. Their names are placed in
// lines above, where there is room.
func bands(s *model.Run, a *axis) ([]bandView, []noteView, int) {
	var out []bandView
	var notes noteLayout
	for _, i := range a.idle {
		out = append(out, bandView{pct(i.x0), pct(i.x1 - i.x0), "idle"})
	}
	for _, g := range hostGaps(s) {
		x, to := a.x(g.From), 100.0
		if g.To != model.Never {
			to = a.x(g.To)
		}
		out = append(out, bandView{pct(x), pct(to - x), "gone"})
	}
	for _, c := range s.Checkpoints {
		x0, x1 := a.x(c.From), a.x(c.To)
		class := "check"
		if !c.Quiet {
			class = "check bad"
		}
		out = append(out, bandView{pct(x0), pct(math.Max(x1-x0, 0.2)), class})
		notes.place(x0, x1, class, c.Name, model.CheckState(c))
	}
	for _, st := range s.Steps {
		if (st.Op == record.OpBreak || st.Op == record.OpKill || st.Op == record.OpTerm || st.Op == record.OpStop || st.Op == record.OpStart) && len(out) < bandsMost {
			out = append(out, bandView{pct(a.x(st.From)), "0", "hit"})
		}
	}
	for _, g := range hostGaps(s) {
		x, text := a.x(g.From), "host ends"
		if g.To != model.Never {
			text = "host restarts"
		}
		notes.place(x, x, "gone", text, "the host is gone: "+model.ExitText(g.Exit))
	}
	head, _ := words.FirstOf(out, bandsMost)
	return head, notes.out, notes.lines*laneHeight + 2
}

// gaps are when there is no host: between its lives, and after the last one.
func hostGaps(s *model.Run) []model.Host {
	var out []model.Host
	for i, h := range s.Hosts {
		switch {
		case h.To == model.Never:
		case i+1 < len(s.Hosts):
			out = append(out, model.Host{From: h.To, To: s.Hosts[i+1].From, Exit: h.Exit})
		default:
			out = append(out, model.Host{From: h.To, To: model.Never, Exit: h.Exit})
		}
	}
	if len(s.Hosts) == 0 && s.HostGone >= 0 {
		out = append(out, model.Host{From: s.HostGone, To: model.Never, Exit: s.HostExit})
	}
	return out
}

// noteLayout puts names into the first line where they do not collide.
type noteLayout struct {
	out   []noteView
	taken [noteLines][][2]float64
	lines int
}

func (n *noteLayout) place(x0, x1 float64, class, text, title string) {
	text = words.Clean(text, 30)
	w := float64(utf8.RuneCountInString(text)) * charRoom
	mid := (x0 + x1) / 2
	anchor, from := "middle", mid-w/2
	switch {
	case from < 0:
		anchor, mid, from = "start", 0, 0
	case mid+w/2 > 100:
		anchor, mid, from = "end", 100, 100-w
	}
	for line := range n.taken {
		if !collides(n.taken[line], from-0.6, from+w+0.6) {
			n.taken[line] = append(n.taken[line], [2]float64{from, from + w})
			n.lines = max(n.lines, line+1)
			n.out = append(n.out, noteView{X: pct(mid), Y: num(float64(line*laneHeight + 12)), Anchor: anchor, Class: class, Text: text, Title: title})
			return
		}
	}
}

func collides(taken [][2]float64, from, to float64) bool {
	for _, t := range taken {
		if from < t[1] && to > t[0] {
			return true
		}
	}
	return false
}

// foundView is a moment that a finding names.
type foundView struct {
	X     string
	Title string `max:"200"`
}

const foundMost = 120

// found are the moments of the findings, one mark for those that coincide.
func foundMoments(s *model.Run, a *axis) []foundView {
	var out []foundView
	taken := map[string]bool{}
	for i := range s.Verdict.Findings {
		f := &s.Verdict.Findings[i]
		for _, t := range f.At {
			x := strconv.FormatFloat(a.x(t), 'f', 1, 64) + "%"
			if t < 0 || t > s.End || taken[x] || len(out) >= foundMost {
				continue
			}
			taken[x] = true
			out = append(out, foundView{x, words.Clean(fmt.Sprintf("%s %s at %s: %s", f.Law, f.Kind, words.At(t), f.Title), 200)})
		}
	}
	return out
}
