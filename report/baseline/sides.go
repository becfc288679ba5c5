package baseline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// CompareView sets runs beside earlier ones of the same.
type CompareView struct {
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
	Outcome verdict.Outcome
	Glyph   string
	Host    string `max:"80"`
	Runs    int
}

type compareFinding struct {
	State, Class, Glyph string
	Law                 string `max:"20"`
	Kind                string `max:"80"`
	About               string
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
	compare.New: {"bad", "✗"}, compare.Known: {"none", "≡"}, compare.Fixed: {"good", "✓"}, compare.Undecided: {"warn", "?"},
	compare.NotRun: {"warn", "?"},
}

// NewCompare is a row for each play that either side has.
func NewCompare(c *compare.Result, base, head []verdict.Judged) *CompareView {
	v := &CompareView{}
	for _, note := range c.Notes {
		if len(head) != 1 || strings.HasPrefix(note, compare.PlayOf(&head[0]).String()+": ") {
			v.Notes = append(v.Notes, note)
		}
	}
	old, left := model.ByPlay(base), 0
	for _, now := range model.ByPlay(head) {
		play := now.Play
		at := slices.IndexFunc(old, func(g *model.Repeats) bool {
			return g.Scenario == play.Scenario && (c.Renamed != nil || g.Host == play.Host)
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
	if v.Notes, _ = words.FirstOf(v.Notes, compareMost); left > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("not shown: %s more", text.Count(left, "play")))
	}
	if c.Tests == 0 && len(c.Measures) > 0 {
		v.Tests = "Times and sizes are not tested: " + NeedText(c) + "."
	}
	return v
}

func newCompareRow(c *compare.Result, play compare.Play, base, head *model.Repeats) compareRow {
	row := compareRow{Name: play.What(), Base: newCompareSide(base), Head: newCompareSide(head)}
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Play != play {
			continue
		}
		if len(row.Findings) == model.FindingsOf {
			row.More++
			continue
		}
		look := stateLooks[f.State]
		row.Findings = append(row.Findings, compareFinding{
			State: string(f.State), Class: look.class, Glyph: look.glyph, Law: f.Law, Kind: f.Kind,
			About: model.AboutKind(f.Kind), Title: f.Title, Note: f.Note,
			Fingerprint: f.Fingerprint, Base: f.Base.String(), Head: f.Head.String(),
		})
	}
	for _, n := range []struct {
		name string
		of   func(*verdict.Verdict) int
	}{
		{"servers launched", func(v *verdict.Verdict) int { return v.Spawned }},
		{"alive at most", func(v *verdict.Verdict) int { return v.PeakLive }},
		{"left at the end", func(v *verdict.Verdict) int { return v.Left }},
		{"doubts", func(v *verdict.Verdict) int { return len(v.Doubts) }},
	} {
		a, b := spread(base, n.of), spread(head, n.of)
		row.Numbers = append(row.Numbers, compareNumber{Name: n.name, Base: RangeText(a), Head: RangeText(b), Delta: moved(a, b)})
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
	return Signed(head.Most - base.Most)
}

// newCompareMeasure is a median with what the test says of it.
func newCompareMeasure(m *compare.Measure) compareNumber {
	cells := MeasureRow(m)
	class := map[compare.Change]string{compare.Worse: "bad", compare.Better: "good"}[m.Change]
	return compareNumber{Name: m.Name, Base: cells[1], Head: cells[2], Delta: cells[3], Note: cells[4], Class: class}
}

func newCompareSide(g *model.Repeats) compareSide {
	worst := model.Worst(g.Runs)
	return compareSide{Outcome: worst, Glyph: model.OutcomeGlyph[worst], Host: g.Host, Runs: len(g.Runs)}
}

// spread is a number over the repeats.
func spread(g *model.Repeats, of func(*verdict.Verdict) int) compare.Range {
	var all []int
	for i := range g.Runs {
		all = append(all, of(&g.Runs[i].Verdict))
	}
	return compare.Range{Least: slices.Min(all), Most: slices.Max(all)}
}
