package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
)

// fewMeasures is how many rows of measures are shown without Verbose, when
// nothing has changed: more than that is a wall of ~.
const fewMeasures = 21

// Comparison writes two sets of runs beside each other. The error is w's.
func Comparison(w io.Writer, r *compare.Result, o TextOptions) error {
	var buf bytes.Buffer
	p := newPrinter(&buf, o)
	p.item(0, "", 0, "", 0, fmt.Sprintf("%s before, %s now%s", plural(r.Base, "run"), plural(r.Head, "run"), renamedText(r.Renamed)), strong)
	p.comparedFindings(r.Findings)
	p.blank()
	p.comparedNumbers(r)
	p.blank()
	p.item(0, "", 0, "", 0, comparisonLine(r), strong)
	_, err := w.Write(buf.Bytes())
	return err
}

func renamedText(r *compare.Renamed) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(" (host %s before, %s now)", r.From, r.To)
}

var stateLook = map[compare.State]style{compare.New: bad | strong, compare.Fixed: good, compare.Undecided: warn, compare.NotRun: warn}

func (p *printer) comparedFindings(all []compare.Finding) {
	if len(all) == 0 {
		return
	}
	p.blank()
	for i := range all {
		f := &all[i]
		p.item(0, pad(string(f.State), 10), stateLook[f.State], fmt.Sprintf("%s on %s: %s %s  ", f.Scenario, f.Host, f.Law, f.Kind), strong,
			fmt.Sprintf("%s: was in %s runs, now in %s", f.Fingerprint, f.Base, f.Head), 0)
		p.field(10, 0, "", f.Title+warningText(f))
		p.styled(10, 0, "", f.Note, warn)
	}
}

func warningText(f *compare.Finding) string {
	if isError(&f.Finding) {
		return ""
	}
	return " (a warning)"
}

// comparedNumbers are the counts that differ and the measures.
func (p *printer) comparedNumbers(r *compare.Result) {
	if len(r.Counts) > 0 {
		rows := [][]string{{"counts", "before", "now", "change"}}
		for _, c := range r.Counts {
			rows = append(rows, []string{playText(c.Play) + ": " + c.Name, rangeText(c.Base), rangeText(c.Head), signed(c.Delta())})
		}
		p.table(rows)
	}
	p.measures(r)
	for _, note := range r.Notes {
		p.item(2, "note: ", dim, "", 0, note, 0)
	}
}

func (p *printer) measures(r *compare.Result) {
	if len(r.Measures) == 0 {
		return
	}
	if r.Tests == 0 {
		p.item(2, "", 0, "times and sizes: ", dim, "not tested: "+needText(r), 0)
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
		rows = append(rows, measureRow(m))
	}
	if len(rows) > 1 {
		p.table(rows)
	}
	if quiet > 0 {
		p.item(2, "", 0, "", 0, fmt.Sprintf("%s more: no change shown (-v lists them)", strconv.Itoa(quiet)), dim)
	}
	if r.Tests > 0 {
		p.item(2, "", 0, "", 0, fmt.Sprintf("medians; Mann-Whitney U, corrected for %s (Holm); a change counts from the tolerance on; ~ is no change shown%s",
			plural(r.Tests, "test"), shortText(r)), dim)
	}
}

// needText is what is missing for a test, and how to get it.
func needText(r *compare.Result) string {
	base, head := r.Measures[0].Base, r.Measures[0].Head
	text := fmt.Sprintf("need at least %d runs on each side, have %d and %d", compare.LeastRuns, len(base), len(head))
	if r.Need > compare.LeastRuns {
		text += fmt.Sprintf("; to show anything among %s, %d", plural(len(r.Measures), "measure"), r.Need)
	}
	return fmt.Sprintf("%s (leakbench run --repeat %d makes them)", text, r.Need)
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

func measureRow(m *compare.Measure) []string {
	base, head := m.Medians()
	row := []string{playText(m.Play) + ": " + m.Name, valueText(base, m.Unit), valueText(head, m.Unit), "~", ""}
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

func playText(p compare.Play) string { return p.Scenario + " on " + p.Host }

func valueText(v float64, unit compare.Unit) string {
	switch unit {
	case compare.Nanoseconds:
		return span(int64(v))
	case compare.Bytes:
		return size(int64(v))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func deltaText(d float64) string {
	if math.IsInf(d, 0) {
		return "from 0"
	}
	return fmt.Sprintf("%+.0f%%", 100*d)
}

func rangeText(r compare.Range) string {
	if r.Least == r.Most {
		return strconv.Itoa(r.Least)
	}
	return fmt.Sprintf("%d to %d", r.Least, r.Most)
}

func signed(n int) string {
	if n == 0 {
		return "varies"
	}
	return fmt.Sprintf("%+d", n)
}

// table prints rows in columns, the first of them in bold.
func (p *printer) table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = clean(row[i], maxText/4)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(pad(cell, widths[i]+2))
		}
		look := style(0)
		if n == 0 {
			look = dim
		}
		p.out.WriteString("  " + p.paint(defuse(strings.TrimRight(b.String(), " ")), look))
		p.blank()
	}
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// comparisonLine is a comparison in one line.
func comparisonLine(r *compare.Result) string {
	count := map[compare.State]int{}
	for _, f := range r.Findings {
		count[f.State]++
	}
	changes := map[compare.Change]int{}
	for _, m := range r.Measures {
		changes[m.Change]++
	}
	var parts []string
	for _, s := range []compare.State{compare.New, compare.Known, compare.Fixed, compare.Undecided, compare.NotRun} {
		if s == compare.New || count[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[s], s))
		}
	}
	if n := changes[compare.Worse]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d grown", n))
	}
	if n := changes[compare.Better]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d shrunk", n))
	}
	return "findings: " + strings.Join(parts, ", ")
}

// Repeats writes how often each play leaked. The error is w's.
func Repeats(w io.Writer, all []compare.Repeat, o TextOptions) error {
	var buf bytes.Buffer
	p := newPrinter(&buf, o)
	p.blank()
	for i := range all {
		r := &all[i]
		mark, look := "  ", style(0)
		if r.Flaky() {
			mark, look = "~ ", warn
		}
		p.item(0, mark, look, playText(r.Play)+": ", strong, gate.Rates(r), 0)
		for k := range r.Findings {
			f := &r.Findings[k]
			p.item(4, "", 0, fmt.Sprintf("%s %s %s  ", f.Law, f.Kind, f.Fingerprint), 0, fmt.Sprintf("in %s (%s)", f.Rate.Seen, gate.Percent(f.Rate)), 0)
		}
	}
	_, err := w.Write(buf.Bytes())
	return err
}
