package baseline

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/terminal"
	"github.com/leakbench/leakbench/report/words"
)

// fewMeasures is how many rows of measures are shown without Verbose, when nothing has changed: more than that is a wall of ~.
const fewMeasures = 21

// Comparison writes two sets of runs beside each other.
func Comparison(b *bytes.Buffer, r *compare.Result, o terminal.Options) {
	p := terminal.NewPrinter(b, o)
	p.Item(0, "", 0, "", 0, fmt.Sprintf("%s before, %s now%s", text.Count(r.Base, "run"), text.Count(r.Head, "run"), renamedText(r.Renamed)),
		terminal.Strong)
	comparedFindings(p, r)
	p.Blank()
	comparedNumbers(p, r)
	p.Blank()
	p.Item(0, "", 0, "", 0, comparisonLine(r), terminal.Strong)
}

func renamedText(r *compare.Renamed) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" (host %s before, %s now)", r.From, r.To)
}

// playText names a play, with both hosts where they differ.
func playText(p compare.Play, r *compare.Renamed) string {
	if r == nil {
		return p.String()
	}
	return fmt.Sprintf("%s on %s (before: %s)", p.What(), r.To, r.From)
}

var stateLook = map[compare.State]terminal.Style{
	compare.New: terminal.Bad | terminal.Strong, compare.Fixed: terminal.Good, compare.Undecided: terminal.Warn, compare.NotRun: terminal.Warn,
}

func comparedFindings(p *terminal.Printer, r *compare.Result) {
	if len(r.Findings) == 0 {
		return
	}
	p.Blank()
	for i := range r.Findings {
		f := &r.Findings[i]
		p.Item(0, terminal.Pad(string(f.State), 10), stateLook[f.State],
			fmt.Sprintf("%s: %s %s  ", playText(f.Play, r.Renamed), f.Law, f.Kind), terminal.Strong,
			fmt.Sprintf("%s: was in %s runs, now in %s", f.Fingerprint, f.Base, f.Head), 0)
		p.Field(10, 0, "", f.Title+warningText(f))
		p.Styled(10, 0, "", f.Note, terminal.Warn)
	}
}

func warningText(f *compare.Finding) string {
	if f.IsError() {
		return ""
	}
	return " (a warning)"
}

// comparedNumbers are the counts that differ and the measures.
func comparedNumbers(p *terminal.Printer, r *compare.Result) {
	if len(r.Counts) > 0 {
		rows := [][]string{{"counts", "before", "now", "change"}}
		for _, c := range r.Counts {
			rows = append(rows, []string{playText(c.Play, r.Renamed) + ": " + c.Name, RangeText(c.Base), RangeText(c.Head), Signed(c.Delta())})
		}
		p.Table(rows)
	}
	measures(p, r)
	for _, note := range r.Notes {
		p.Item(2, "note: ", terminal.Dim, "", 0, note, 0)
	}
}

func measures(p *terminal.Printer, r *compare.Result) {
	if len(r.Measures) == 0 {
		return
	}
	if r.Tests == 0 {
		p.Item(2, "", 0, "times and sizes: ", terminal.Dim, "not tested: "+NeedText(r), 0)
		if !p.Verbose {
			return
		}
	}
	rows := [][]string{{"times and sizes", "before", "now", "change", ""}}
	quiet := 0
	for i := range r.Measures {
		m := &r.Measures[i]
		if m.Change == compare.Same && !p.Verbose && len(r.Measures) > fewMeasures {
			quiet++
			continue
		}
		rows = append(rows, MeasureRow(m))
	}
	if len(rows) > 1 {
		p.Table(rows)
	}
	if quiet > 0 {
		p.Item(2, "", 0, "", 0, fmt.Sprintf("%s more: no change shown (-v lists them)", strconv.Itoa(quiet)), terminal.Dim)
	}
	if r.Tests > 0 {
		p.Item(2, "", 0, "", 0,
			fmt.Sprintf("medians; Mann-Whitney U, corrected for %s (Holm); a change counts from the tolerance on; ~ is no change shown%s",
				text.Count(r.Tests, "test"), shortText(r)), terminal.Dim)
	}
}

// NeedText is what is missing for a test, and how to get it.
func NeedText(r *compare.Result) string {
	base, head := r.Measures[0].Base, r.Measures[0].Head
	need := fmt.Sprintf("need at least %d runs on each side, have %d and %d", compare.LeastRuns, len(base), len(head))
	if r.Need > compare.LeastRuns {
		need += fmt.Sprintf("; to show anything among %s, %d", text.Count(len(r.Measures), "measure"), r.Need)
	}
	return fmt.Sprintf("%s (leakbench run --repeat %d makes them)", need, r.Need)
}

// shortText warns of a comparison that can't show anything.
func shortText(r *compare.Result) string {
	for i := range r.Measures {
		m := &r.Measures[i]
		if m.Change != compare.Untested && min(len(m.Base), len(m.Head)) < r.Need {
			return fmt.Sprintf(". With so many tests, a change can be shown only from %d runs on each side", r.Need)
		}
	}
	return ""
}

// MeasureRow is a measure as a row: name, before, now, change, and how sure that is.
func MeasureRow(m *compare.Measure) []string {
	base, head := m.Medians()
	row := []string{m.String() + ": " + m.Name, valueText(base, m.Unit), valueText(head, m.Unit), "~", ""}
	switch {
	case m.Change == compare.Untested:
		row[3], row[4] = "?", fmt.Sprintf("need at least %d runs, have %d and %d", compare.LeastRuns, len(m.Base), len(m.Head))
	case m.Change == compare.Same && m.Within:
		row[4] = fmt.Sprintf("%s is within the tolerance", deltaText(m.Delta))
	case m.Change == compare.Same:
		row[4] = fmt.Sprintf("p=%.3f n=%d+%d", m.Holm, len(m.Base), len(m.Head))
	default:
		row[3] = deltaText(m.Delta)
		row[4] = fmt.Sprintf("%s (p=%.3f n=%d+%d, greater in %.0f%% of pairs)", m.Change, m.Holm, len(m.Base), len(m.Head), 100*m.Effect)
	}
	return row
}

func valueText(v float64, unit compare.Unit) string {
	switch unit {
	case compare.Nanoseconds:
		return duration.Text(int64(v))
	case compare.Bytes:
		return words.Size(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func deltaText(d float64) string {
	if math.IsInf(d, 0) {
		return "from 0"
	}
	return fmt.Sprintf("%+.0f%%", 100*d)
}

// RangeText is "3", or "2 to 5".
func RangeText(r compare.Range) string {
	if r.Least == r.Most {
		return strconv.Itoa(r.Least)
	}
	return fmt.Sprintf("%d to %d", r.Least, r.Most)
}

// Signed is a change of a count: "+2".
func Signed(n int) string {
	if n == 0 {
		return "varies"
	}
	return fmt.Sprintf("%+d", n)
}

// comparisonLine is a comparison in one line.
func comparisonLine(r *compare.Result) string {
	count, changes := map[compare.State]int{}, map[compare.Change]int{}
	for _, f := range r.Findings {
		count[f.State]++
	}
	for _, m := range r.Measures {
		changes[m.Change]++
	}
	var parts []string
	for _, s := range []compare.State{compare.New, compare.Known, compare.Fixed, compare.Undecided, compare.NotRun} {
		if s == compare.New || count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	line := "findings: " + strings.Join(parts, ", ")
	if worse, better := changes[compare.Worse], changes[compare.Better]; worse+better > 0 {
		line += fmt.Sprintf("; times and sizes: %d grown, %d shrunk", worse, better)
	}
	return line
}

// Repeats writes how often each scenario leaked.
func Repeats(b *bytes.Buffer, all []compare.Repeat, o terminal.Options) {
	p := terminal.NewPrinter(b, o)
	p.Blank()
	for i := range all {
		r := &all[i]
		mark, look := "  ", terminal.Style(0)
		if r.Flaky() {
			mark, look = "~ ", terminal.Warn
		}
		p.Item(0, mark, look, r.String()+": ", terminal.Strong, gate.Rates(r), 0)
		for k := range r.Findings {
			f := &r.Findings[k]
			p.Item(4, "", 0, fmt.Sprintf("%s %s %s  ", f.Law, f.Kind, f.Fingerprint), 0,
				fmt.Sprintf("in %s (%s)", f.Rate.Seen, gate.Percent(f.Rate)), 0)
		}
	}
}

// Replayed says whether a run that was played again ended alike.
type Replayed struct {
	Same bool            `json:"same"`
	Then verdict.Outcome `json:"then"`
	Now  verdict.Outcome `json:"now"`
	Gone []string        `json:"gone" jsonschema:"fingerprints that were found then, not now"`
	New  []string        `json:"new" jsonschema:"fingerprints that were found now, not then"`
	told []compare.Finding
}

// Replay holds a run against the same played again. They are alike when the
// outcome is the same, and the causes of what was found are.
func Replay(then, now verdict.Judged) Replayed {
	r := Replayed{Then: then.Verdict.Outcome, Now: now.Verdict.Outcome, Gone: []string{}, New: []string{}}
	c := compare.Runs([]verdict.Judged{then}, []verdict.Judged{now}, compare.Params{})
	for _, f := range c.Findings {
		switch {
		case f.Base.In == 0:
			r.New = append(r.New, f.Fingerprint)
		case f.Head.In == 0:
			r.Gone = append(r.Gone, f.Fingerprint)
		default:
			continue
		}
		r.told = append(r.told, f)
	}
	r.Same = r.Then == r.Now && len(r.Gone)+len(r.New) == 0
	return r
}

// ReplayText is the answer in words; what is the play, where there are several.
func ReplayText(b *bytes.Buffer, what string, r *Replayed, o terminal.Options) {
	p := terminal.NewPrinter(b, o)
	p.Blank()
	switch {
	case r.Same:
		p.Item(0, "= ", terminal.Good|terminal.Strong, what+"the same again: ", terminal.Strong, string(r.Now), 0)
	case r.Then == r.Now:
		p.Item(0, "≠ ", terminal.Warn|terminal.Strong, what+"not the same again: ", terminal.Strong,
			string(r.Now)+" both times, with other findings", 0)
	default:
		p.Item(0, "≠ ", terminal.Warn|terminal.Strong, what+"not the same again: ", terminal.Strong,
			fmt.Sprintf("%s then, %s now", r.Then, r.Now), 0)
	}
	for i := range r.told {
		f := &r.told[i]
		when := "then, not now"
		if slices.Contains(r.New, f.Fingerprint) {
			when = "now, not then"
		}
		p.Item(2, terminal.Pad(when, 15), terminal.Warn, strings.Join([]string{f.Law, f.Kind, f.Fingerprint, " "}, " "), 0, f.Title, 0)
	}
}
