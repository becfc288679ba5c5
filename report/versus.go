package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// compareView sets runs beside earlier ones of the same.
type compareView struct {
	Rows  []compareRow
	Notes []string `max:"300"` // what was left out, and why
	Tests string   `max:"300"`
}

type compareRow struct {
	Name       string `max:"160"`
	Base, Head compareSide
	Findings   []compareFinding
	More       int // findings that are not shown
	Numbers    []compareNumber
}

type compareSide struct {
	Outcome, Glyph string
	Host           string `max:"80"`
	Runs           int
}

type compareFinding struct {
	State, Class, Glyph string
	Law                 string `max:"20"`
	Kind                string `max:"80"`
	Title               string `max:"200"`
	Note                string `max:"200"`
	Fingerprint         string `max:"80"`
	Base, Head          string
}

type compareNumber struct {
	Name, Base, Head, Delta string
	Note                    string `max:"200"`
	Class                   string
}

// compareMost is how many plays are set beside each other.
const compareMost = 200

var stateLooks = map[compare.State]struct{ class, glyph string }{
	compare.New: {"bad", "✗"}, compare.Known: {"none", "≡"}, compare.Fixed: {"good", "✓"}, compare.Undecided: {"warn", "?"}, compare.NotRun: {"warn", "?"},
}

// hold tells of all runs together, where they are held against something.
func (p *pageView) hold(h *held, runs []verdict.Judged) {
	p.Answer = h.answer()
	var parts []string
	for _, c := range p.Answer.Counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Word))
	}
	p.Title = strings.Join(parts, ", ") + ". " + p.Title
	if h.Result.Compared != nil && len(h.Base) > 0 {
		p.Compare = newCompare(h.Result.Compared, h.Base, runs)
	}
}

// hold tells of one run.
func (r *runView) hold(h *held, p compare.Play) {
	r.Standing, r.Against = h.counts(&p), h.source()
	r.Entries, _ = h.entries(&p)
}

// newCompare is a row for each play that either side has.
func newCompare(c *compare.Result, base, head []verdict.Judged) *compareView {
	v := &compareView{}
	for _, note := range c.Notes {
		if len(head) != 1 || strings.HasPrefix(note, playText(compare.PlayOf(&head[0]))+": ") {
			v.Notes = append(v.Notes, note)
		}
	}
	old, left := byPlay(base), 0
	for _, now := range byPlay(head) {
		play := compare.Play{Scenario: now.scenario, Host: now.host}
		at := slices.IndexFunc(old, func(g *repeats) bool {
			return g.scenario == play.Scenario && (c.Renamed != nil || g.host == play.Host)
		})
		if at < 0 {
			continue // the notes say so
		}
		if len(v.Rows) < compareMost {
			v.Rows = append(v.Rows, newCompareRow(c, play, old[at], now))
		} else {
			left++
		}
	}
	if v.Notes, _ = firstOf(v.Notes, compareMost); left > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("not shown: %s more", plural(left, "play")))
	}
	if c.Tests == 0 && len(c.Measures) > 0 {
		v.Tests = "Times and sizes are not tested: " + needText(c) + "."
	}
	return v
}

func newCompareRow(c *compare.Result, play compare.Play, base, head *repeats) compareRow {
	row := compareRow{Name: play.Scenario, Base: base.side(), Head: head.side()}
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Play != play {
			continue
		}
		if len(row.Findings) == findingsOf {
			row.More++
			continue
		}
		look := stateLooks[f.State]
		row.Findings = append(row.Findings, compareFinding{
			State: string(f.State), Class: look.class, Glyph: look.glyph, Law: f.Law, Kind: f.Kind, Title: f.Title, Note: f.Note,
			Fingerprint: f.Fingerprint, Base: f.Base.String(), Head: f.Head.String(),
		})
	}
	for _, n := range []struct {
		name string
		of   func(*verdict.Judged) int
	}{
		{"servers launched", func(j *verdict.Judged) int { return j.Verdict.Spawned }},
		{"alive at most", func(j *verdict.Judged) int { return j.Verdict.PeakLive }},
		{"left at the end", func(j *verdict.Judged) int { return j.Verdict.Left }},
		{"doubts", func(j *verdict.Judged) int { return len(j.Verdict.Doubts) }},
	} {
		a, b := base.spread(n.of), head.spread(n.of)
		row.Numbers = append(row.Numbers, compareNumber{Name: n.name, Base: rangeText(a), Head: rangeText(b), Delta: moved(a, b)})
	}
	for i := range c.Measures {
		if m := &c.Measures[i]; m.Play == play && m.Unit != compare.Processes && m.Change != compare.Untested {
			row.Numbers = append(row.Numbers, newCompareMeasure(m))
		}
	}
	return row
}

// moved is how much more there is now, at the most.
func moved(base, head compare.Range) string {
	if base == head {
		return "0"
	}
	return signed(head.Most - base.Most)
}

// newCompareMeasure is a median with what the test says of it.
func newCompareMeasure(m *compare.Measure) compareNumber {
	cells := measureRow(m)
	n := compareNumber{Name: m.Name, Base: cells[1], Head: cells[2], Delta: cells[3], Note: cells[4]}
	switch m.Change {
	case compare.Worse:
		n.Class = "bad"
	case compare.Better:
		n.Class = "good"
	}
	return n
}

func (g *repeats) side() compareSide {
	worstOf := verdict.Clean
	for _, j := range g.runs {
		if gravity(string(j.Verdict.Outcome)) > gravity(string(worstOf)) {
			worstOf = j.Verdict.Outcome
		}
	}
	return compareSide{Outcome: string(worstOf), Glyph: outcomeGlyph[worstOf], Host: g.host, Runs: len(g.runs)}
}

// spread is a number over the repeats.
func (g *repeats) spread(of func(*verdict.Judged) int) (r compare.Range) {
	for i, j := range g.runs {
		v := of(j)
		if i == 0 {
			r = compare.Range{Least: v, Most: v}
		}
		r.Least, r.Most = min(r.Least, v), max(r.Most, v)
	}
	return r
}
