// Package page renders judged runs as one HTML page that needs nothing besides itself. Its script draws the lifelines.
package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// What a page shows at most. It always says what it left out.
const (
	fullRuns = 60 // of a page; the others are rows of the overview
	allRuns  = 2000
	stepsOf  = 400
)

// pageView is all that the template knows. Its strings are cleaned by scrub before it does.
type pageView struct {
	Title    string
	CSS      template.CSS
	JS       template.JS
	Policy   string
	Outcome  string
	Headline string
	Runs     []*runView
	Overview []overviewRow
	More     string
	Suite    *suiteView
	Answer   *baseline.AnswerView
	Compare  *baseline.CompareView
}

type overviewRow struct {
	ID, Outcome, Word string
	Glyph             string
	Scenario, Host    string `max:"80"`
	Findings, Doubts  int
	Spawned, Peak     int
	// Left are processes that should be gone, Unreaped zombies, Harmed those that should have been left alone.
	Left, Unreaped, Harmed int
	Took                   string
	First                  string `max:"200"`
}

type fact struct{ Name, Value string }

type runView struct {
	ID       string
	Alone    bool
	Open     bool
	Outcome  string
	Glyph    string
	Word     string
	Scenario string `max:"80"`
	Host     string `max:"80"`
	About    string `max:"300"`
	Sentence string
	Blame    string               `max:"300"`
	Do       string               `max:"500"` // what to do first
	Counts   []baseline.Count     // new, known, fixed, where there is a baseline
	Baseline string               `max:"300"` // what it is
	Answer   *baseline.AnswerView // of a page of this run alone
	Entries  []baseline.EntryView
	Compare  *baseline.CompareView // where the page is of this run alone
	HostLog  string                `max:"64000" lines:"keep"`
	Raw      string
	Facts    []fact
	Watched  *watchedView // of a host that was watched from outside
	Soak     *model.Soak
	Laws     []lawView
	Doubts   []doubtView
	DoubtsUp bool // doubts decide the verdict: they come first
	Findings []*findingView
	Left     string // findings and doubts that are not shown
	Timeline *timelineView
	Faults   []faultView
	Steps    []stepView
	StepNote string
	Checks   []checkView
	Odd      int
	Limits   []fact
	Machine  []fact
	Weak     []string `max:"500"`
	Command  string
	Source   string        `max:"48000" lines:"keep"`
	Data     template.HTML // for the script
	Samples  template.HTML
	Reports  []string
}

type doubtView struct {
	verdict.Doubt
	Do string
}

type lawView struct {
	verdict.LawResult
	Class, Glyph string
}

type faultView struct {
	Label, What, When, Status, Class string
	Fired, Needed                    int
}

type checkView struct {
	Name             string `max:"80"`
	At, State, Class string
}

type stepView struct {
	history.Step            `max:"Op=80 Session=80 Label=80 Detail=200 Error=500"`
	At, Took, Result, Class string
}

func newPage(runs []verdict.Judged, a baseline.Baseline) (*pageView, error) {
	base := baseline.NewLookup(a)
	p := &pageView{Outcome: string(model.Worst(runs))}
	most := max(serversLeast, min(serversOfRun, serversOfPage/max(1, min(len(runs), fullRuns))))
	shown := fullRunsOf(runs)
	head, more := words.FirstOf(runs, allRuns)
	ids := map[int]string{}
	for i := range head {
		s := model.New(&head[i])
		s.Ordered = base.NewFirst(compare.PlayOf(&head[i]), s.Ordered)
		id := ""
		if shown[i] {
			id = fmt.Sprintf("r%d", i+1)
			view, err := newRunView(s, id, most, base)
			if err != nil {
				return nil, err
			}
			view.Open = head[i].Verdict.Outcome == verdict.Leak && !slices.ContainsFunc(p.Runs, func(r *runView) bool { return r.Open })
			p.Runs = append(p.Runs, view)
			ids[i] = id
		}
		p.Overview = append(p.Overview, newOverviewRow(s, id))
	}
	slices.SortStableFunc(p.Overview, func(a, b overviewRow) int {
		return cmp.Compare(model.Gravity(verdict.Outcome(b.Outcome)), model.Gravity(verdict.Outcome(a.Outcome)))
	})
	if left := len(runs) - len(p.Runs); left > 0 {
		p.More = fmt.Sprintf("%d of %d runs are shown in full, starting with those that have findings or doubts.", len(p.Runs), len(runs))
	}
	if more > 0 {
		p.More += fmt.Sprintf(" The last %d are not in the table either.", more)
	}
	p.Headline, p.Title = model.Headline(runs, a.NotApplicable)
	if len(runs) > 1 {
		p.Suite = newSuite(head, ids, base)
	}
	if base != nil {
		p.beside(base, runs)
	}
	if len(p.Runs) == 1 && len(runs) == 1 {
		p.Runs[0].Alone, p.Runs[0].Open = true, true
		p.Runs[0].Compare, p.Compare = p.Compare, nil
		p.Runs[0].Answer = p.Answer
	}
	return p, nil
}

// fullRunsOf are the runs that get a section of their own: the first ones that are not clean, then the first clean ones.
func fullRunsOf(runs []verdict.Judged) map[int]bool {
	shown := map[int]bool{}
	for _, clean := range []bool{false, true} {
		for i := range runs {
			if len(shown) < fullRuns && (runs[i].Verdict.Outcome == verdict.Clean) == clean {
				shown[i] = true
			}
		}
	}
	return shown
}

func newOverviewRow(s *model.Run, id string) overviewRow {
	v, impact := &s.Verdict, s.Impact
	row := overviewRow{
		ID: id, Outcome: string(v.Outcome), Word: impact.Word(v.Outcome), Glyph: model.OutcomeGlyph[v.Outcome],
		Scenario: s.Header.Scenario.String(), Host: s.Header.Host.Name, Findings: len(v.Findings), Doubts: len(v.Doubts),
		Spawned: v.Spawned, Peak: v.PeakLive, Left: impact.Left, Unreaped: impact.Unreaped, Harmed: impact.Harmed, Took: duration.Text(s.End),
	}
	if len(v.Findings) > 0 {
		row.First = s.Headline()
	} else if len(v.Doubts) > 0 {
		row.First = v.Doubts[0].Text
	}
	return row
}

func newRunView(s *model.Run, id string, most int, base *baseline.Lookup) (*runView, error) {
	v, h := &s.Verdict, s.Header
	r := &runView{
		ID: id, Outcome: string(v.Outcome), Word: s.Impact.Word(v.Outcome), Glyph: model.OutcomeGlyph[v.Outcome],
		Scenario: h.Scenario.String(), Host: h.Host.Name, About: h.Scenario.Title,
		Sentence: sentence(s), Blame: blame(s), Do: s.Advice(), HostLog: s.HostLog, Raw: s.Dir,
		Reports:  h.Scenario.Reports,
		DoubtsUp: v.Outcome == verdict.Inconclusive, Command: words.Shell(h.Command), Source: h.Scenario.Source, Weak: h.Witness.Weak,
	}
	if s.Run != nil {
		var err error
		if r.Data, r.Samples, err = newPayload(s, id+"-"); err != nil {
			return nil, err
		}
	}
	if base != nil {
		play := compare.PlayOf(s.Judged)
		r.Counts, r.Baseline = base.Counts(&play), base.Source()
		r.Entries, _ = base.Entries(&play)
	}
	r.Watched = newWatched(s)
	r.Facts, r.Limits, r.Machine, r.Soak = runFacts(s), limits(s), machine(s), model.NewSoak(s.Verdict.Soak)
	for i := range v.Laws {
		r.Laws = append(r.Laws, newLaw(&v.Laws[i], !slices.ContainsFunc(v.Findings, func(f verdict.Finding) bool {
			return f.Law == v.Laws[i].Law && f.IsError()
		})))
	}
	prefix := id + "-"
	findings, more := words.FirstOf(s.Ordered, model.FindingsOf)
	for i := range findings {
		f := newFinding(s, &findings[i], fmt.Sprintf("%sf%d", prefix, i+1), prefix)
		f.Index, f.Open = i, i == 0
		f.Status = base.Status(compare.PlayOf(s.Judged), &findings[i])
		r.Findings = append(r.Findings, f)
	}
	doubts, moreDoubts := words.FirstOf(v.Doubts, model.DoubtsOf)
	for _, d := range doubts {
		r.Doubts = append(r.Doubts, doubtView{Doubt: d, Do: s.AdviceOn(d.Code)})
	}
	if more+moreDoubts > 0 {
		r.Left = fmt.Sprintf("Not shown: %s and %s.", text.Count(more, "finding"), text.Count(moreDoubts, "doubt"))
	}
	r.Timeline = newTimeline(s, prefix, most)
	r.linkServers()
	for _, f := range s.History.Faults(s.Header.Plan) {
		r.Faults = append(r.Faults, newFault(f))
	}
	stepTable(s, r)
	checkTable(s, r)
	r.Weak = append([]string(nil), r.Weak...)
	r.Reports = append([]string(nil), r.Reports...)
	return r, nil
}

// sentence is the verdict in one.
func sentence(s *model.Run) string {
	v := &s.Verdict
	switch {
	case v.Outcome == verdict.Inconclusive && len(v.Doubts) > 0 && len(v.Findings) > 0:
		more := ""
		if n := len(v.Doubts) - 1; n > 0 {
			more = fmt.Sprintf(", and %s more", text.Count(n, "doubt"))
		}
		return fmt.Sprintf("Inconclusive: %s%s. Also: %s.", strings.TrimSuffix(v.Doubts[0].Text, "."), more, s.Headline())
	case len(v.Findings) == 1:
		return s.Headline() + "."
	case len(v.Findings) > 1:
		return fmt.Sprintf("%s, and %s.", s.Headline(), text.Count(len(v.Findings)-1, "more finding"))
	case len(v.Doubts) > 0:
		return "Nothing was found, but the run is inconclusive: " + v.Doubts[0].Text
	case isServer(s):
		return "The server did as it should, and left nothing."
	case v.Spawned == 1:
		return "The one server that was launched exited in time, and no law was broken."
	}
	return fmt.Sprintf("All %d launched servers exited in time, and no law was broken.", v.Spawned)
}

var lawLooks = map[verdict.LawStatus]struct{ class, glyph string }{
	verdict.LawKept: {"good", "✓"}, verdict.LawBroken: {"bad", "✗"}, verdict.LawNotJudged: {"none", "–"},
}

func newLaw(l *verdict.LawResult, warned bool) lawView {
	look := lawLooks[l.Status]
	if l.Status == verdict.LawBroken && warned {
		look.class, look.glyph = "warn", "!"
	}
	view := lawView{*l, look.class, look.glyph}
	values, _ := words.FirstOf(l.Values, 6)
	view.Values = slices.Clone(values)
	return view
}

func newFault(f history.PlannedFault) faultView {
	v := faultView{
		Label: f.Label, What: string(f.Do) + " on " + string(f.On), When: "every launch", Fired: f.Fired, Needed: f.Fires,
		Status: "fired", Class: "good",
	}
	switch {
	case f.On == record.OnOrder:
		v.When = "when told"
	case f.Launch > 0:
		v.When = fmt.Sprintf("launch %d", f.Launch)
	case f.Every > 1:
		v.When = fmt.Sprintf("every %d launches", f.Every)
	}
	if f.Probability > 0 {
		v.When += fmt.Sprintf(", with probability %g", f.Probability)
	}
	switch {
	case f.Fired < f.Fires:
		v.Status, v.Class = "did not fire", "warn"
	case f.Fired == 0:
		v.Status, v.Class = "not required", "none"
	}
	return v
}

func stepTable(s *model.Run, r *runView) {
	head, more := words.FirstOf(s.History.Steps(), stepsOf)
	for _, st := range head {
		v := stepView{Step: *st, At: words.At(st.Begun), Took: duration.Text(s.Ended(st.Ended) - st.Begun), Result: model.StepResult(st)}
		switch {
		case !model.AsExpected(st):
			v.Class = "bad"
		case st.Skipped:
			v.Class = "none"
		}
		r.Steps = append(r.Steps, v)
	}
	for _, st := range s.History.Steps() {
		if !model.AsExpected(st) {
			r.Odd++
		}
	}
	r.StepNote = text.Count(len(s.History.Steps()), "step")
	if more > 0 {
		r.StepNote += fmt.Sprintf(", the first %d shown", len(head))
	}
	skipped := s.Skipped()
	switch {
	case r.Odd > 0:
		r.StepNote += fmt.Sprintf(", %d unexpected", r.Odd)
	case skipped == 0 && len(s.History.Steps()) > 0:
		r.StepNote += ", all as expected"
	}
	if skipped > 0 {
		r.StepNote += fmt.Sprintf(", %d skipped", skipped)
	}
}

func checkTable(s *model.Run, r *runView) {
	head, _ := words.FirstOf(s.History.Checkpoints(), stepsOf)
	for _, c := range head {
		v := checkView{Name: c.Name, At: words.At(c.Begun), State: s.CheckState(c), Class: "good"}
		if !c.Quiet {
			v.Class = "bad"
		}
		r.Checks = append(r.Checks, v)
	}
}

// beside tells of all runs together, beside their baseline.
func (p *pageView) beside(h *baseline.Lookup, runs []verdict.Judged) {
	p.Answer = h.View()
	var parts []string
	for _, c := range p.Answer.Counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Word))
	}
	p.Title = strings.Join(parts, ", ") + ". " + p.Title
	if h.Result.Compared != nil && len(h.Base) > 0 {
		p.Compare = baseline.NewCompare(h.Result.Compared, h.Base, runs)
	}
}
