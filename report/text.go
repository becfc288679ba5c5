package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// TextOptions shape the text report. The zero value is plain text, 100 columns
// wide, with long lists cut short.
type TextOptions struct {
	Color   bool
	Width   int  // columns; 0 is 100, at least 40 are used
	Verbose bool // all values, all laws, the evidence on each process
}

// How much of a list is shown without Verbose.
const (
	textValues  = 4
	textServers = 8
	textDoubts  = 8
	textMost    = 1000 // even with Verbose
)

// Text writes the verdicts for a terminal or a CI log. The error is w's.
func Text(w io.Writer, runs []verdict.Judged, o TextOptions) error {
	var buf bytes.Buffer
	p := newPrinter(&buf, o)
	for i := range runs {
		if i > 0 {
			p.blank()
		}
		p.run(&runs[i])
	}
	if len(runs) != 1 {
		p.summary(runs)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

var outcomeStyle = map[verdict.Outcome]style{verdict.Clean: good, verdict.Leak: bad, verdict.Inconclusive: warn}

var outcomeGlyph = map[verdict.Outcome]string{verdict.Clean: "✓", verdict.Leak: "✗", verdict.Inconclusive: "?"}

func (p *printer) run(j *verdict.Judged) {
	s := tell(j)
	v := &j.Verdict
	style, glyph := outcomeStyle[v.Outcome], outcomeGlyph[v.Outcome]
	if glyph == "" {
		glyph = "?"
	}
	p.item(0, glyph+" ", style|strong, string(v.Outcome)+"  ", style|strong,
		fmt.Sprintf("%s on %s%s", s.header.Scenario.Name, s.header.Host.Name, tally(v)), strong)
	p.field(2, 0, "", fmt.Sprintf("%s launched, %d alive at most, %d left at the end; %s in %s",
		plural(v.Spawned, "server"), v.PeakLive, v.Left, s.stepsText(), span(s.end)))
	for i := range s.order {
		p.blank()
		p.finding(&s.order[i])
	}
	p.doubts(s)
	p.blank()
	p.laws(v.Laws)
	p.failedSteps(s)
	switch {
	case j.Page != "":
		p.field(2, fieldWidth, "report", j.Page)
	case j.Dir != "":
		p.field(2, fieldWidth, "run", j.Dir)
	}
	if v.Outcome != verdict.Clean && len(s.header.Command) > 0 {
		p.field(2, fieldWidth, "again", shell(s.header.Command))
	}
}

// stepsText is "86 steps", or "9 steps (8 skipped)".
func (s *story) stepsText() string {
	text := plural(len(s.steps), "step")
	if n := s.skipped(); n > 0 {
		text += fmt.Sprintf(" (%d skipped)", n)
	}
	return text
}

func tally(v *verdict.Verdict) string {
	var parts []string
	if n := len(v.Findings); n > 0 {
		parts = append(parts, plural(n, "finding"))
	}
	if n := len(v.Doubts); n > 0 {
		parts = append(parts, plural(n, "doubt"))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// fieldWidth is the column of the names before values: "expected  ".
const fieldWidth = 10

func (p *printer) finding(f *verdict.Finding) {
	mark, look := "✗ ", bad
	if f.Severity == record.SeverityWarning {
		mark, look = "! ", warn
	}
	p.item(2, mark, look, fmt.Sprintf("%s %s  ", f.Law, f.Kind), look|strong, f.Title, strong)
	p.field(4, fieldWidth, "expected", f.Expected)
	p.field(4, fieldWidth, "found", f.Found)
	p.lines("values", f.Values, p.limit(textValues))
	for _, g := range grips(f.Evidence) {
		p.field(4, fieldWidth, "held by", gripLine(g))
	}
	if p.Verbose || len(f.Values) == 0 { // the values name them
		p.list("servers", f.Servers, p.limit(textServers), ", ")
	}
	if p.Verbose {
		for i := range f.Evidence {
			p.field(4, fieldWidth, "evidence", evidenceLine(&f.Evidence[i]))
		}
	}
	p.field(4, fieldWidth, "why", f.Why)
	p.field(4, fieldWidth, "fix", f.Fix)
	p.list("reports", f.Reports, p.limit(textValues), ", ")
	about := "leakbench explain " + f.Kind
	if f.Checkpoint != "" {
		about = fmt.Sprintf("seen at checkpoint %q; %s", clean(f.Checkpoint, maxName), about)
	}
	if f.Fingerprint != "" {
		about += "; fingerprint " + f.Fingerprint
	}
	p.field(4, fieldWidth, "more", about)
}

func (p *printer) limit(n int) int {
	if p.Verbose {
		return textMost
	}
	return n
}

// lines prints each value on a line of its own.
func (p *printer) lines(name string, values []string, limit int) {
	head, more := firstOf(values, limit)
	for i, v := range head {
		if i > 0 {
			name = ""
		}
		p.field(4, fieldWidth, name, clean(v, maxText/4))
	}
	if more > 0 {
		p.field(4, fieldWidth, "", fmt.Sprintf("and %d more", more))
	}
}

func (p *printer) list(name string, values []string, limit int, sep string) {
	if len(values) == 0 {
		return
	}
	head, more := firstOf(values, limit)
	capped := make([]string, len(head))
	for i, v := range head {
		capped[i] = clean(v, maxText/4)
	}
	text := strings.Join(capped, sep)
	if more > 0 {
		text += fmt.Sprintf("%sand %d more", sep, more)
	}
	p.field(4, fieldWidth, name, text)
}

func gripLine(g *grip) string {
	line := fmt.Sprintf("%d × %s", g.count, g.held)
	if g.holder != nil {
		line += fmt.Sprintf(" (pid %d fd %d)", g.holder.PID, g.holder.FD)
	}
	if g.waits != "" {
		line += "; it " + g.waits
	}
	return line
}

func evidenceLine(e *record.Evidence) string {
	who := e.Server
	if who == "" {
		who = e.Comm
	}
	parts := []string{
		fmt.Sprintf("%s pid %d", who, e.PID), "state " + string(e.State),
		fmt.Sprintf("ppid %d pgid %d sid %d", e.PPID, e.PGID, e.SID), "rss " + size(e.RSS), "age " + span(int64(e.Age)),
	}
	if w := waiting(e); w != "" {
		parts = append(parts, w)
	}
	if len(e.SigIgnored) > 0 {
		parts = append(parts, "ignores "+strings.Join(e.SigIgnored, " "))
	}
	if len(e.SigPending) > 0 {
		parts = append(parts, "pending "+strings.Join(e.SigPending, " "))
	}
	for i := range e.Descriptors {
		parts = append(parts, descriptorLine(&e.Descriptors[i]))
	}
	return strings.Join(parts, ", ")
}

func descriptorLine(d *record.Descriptor) string {
	return fmt.Sprintf("fd %d %s", d.FD, heldBy(d))
}

// heldBy says who is at the other end of a descriptor.
func heldBy(d *record.Descriptor) string {
	switch {
	case len(d.Holders) > 0:
		var who []string
		head, more := firstOf(d.Holders, 4)
		for _, h := range head {
			who = append(who, fmt.Sprintf("%s pid %d fd %d (%s)", h.Role, h.PID, h.FD, h.Mode))
		}
		if more > 0 {
			who = append(who, fmt.Sprintf("and %d more", more))
		}
		return "held by " + strings.Join(who, ", ")
	case strings.HasPrefix(d.Target, "/") || d.Target == "":
		return d.Target
	case d.Known:
		return "held by nobody"
	}
	return "not seen"
}

func (p *printer) doubts(s *story) {
	if len(s.Verdict.Doubts) == 0 {
		return
	}
	p.blank()
	head, more := firstOf(s.Verdict.Doubts, p.limit(textDoubts))
	for _, d := range head {
		p.item(2, "? ", warn, d.Code+"  ", warn|strong, d.Text, 0)
	}
	if more > 0 {
		p.field(4, 0, "", fmt.Sprintf("and %s more", plural(more, "doubt")))
	}
}

// laws is one line for all that were kept, and one for each that was not.
func (p *printer) laws(laws []verdict.LawResult) {
	var kept, broken, open []string
	for _, l := range laws {
		name := clean(l.Law+" "+l.Name, maxName)
		switch l.Status {
		case verdict.LawKept:
			kept = append(kept, name)
		case verdict.LawBroken:
			broken = append(broken, name)
		default:
			if p.Verbose && l.Reason != "" {
				name += " (" + clean(l.Reason, maxText/4) + ")"
			}
			open = append(open, name)
		}
	}
	p.styled(2, fieldWidth, "broken", strings.Join(broken, ", "), bad)
	p.styled(2, fieldWidth, "kept", strings.Join(kept, ", "), good)
	p.styled(2, fieldWidth, "not judged", strings.Join(open, ", "), dim)
}

// failedSteps tells of the steps that did not go as the scenario expects.
func (p *printer) failedSteps(s *story) {
	var odd []string
	for _, st := range s.steps {
		if !asExpected(st) {
			odd = append(odd, clean(fmt.Sprintf("%d %s", st.N, stepTitle(st)), maxText/4))
		}
	}
	if len(odd) == 0 {
		return
	}
	head, more := firstOf(odd, p.limit(3))
	text := strings.Join(head, "; ")
	if more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	p.styled(2, fieldWidth, "odd steps", text, warn)
}

func (p *printer) summary(runs []verdict.Judged) {
	count := map[verdict.Outcome]int{}
	for i := range runs {
		count[runs[i].Verdict.Outcome]++
	}
	var parts []string
	for _, o := range []verdict.Outcome{verdict.Clean, verdict.Leak, verdict.Inconclusive} {
		if count[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[o], o))
		}
	}
	if len(runs) == 0 {
		p.item(0, "? ", warn, "no run", warn|strong, "", 0)
		return
	}
	p.blank()
	all := worst(runs)
	p.item(0, outcomeGlyph[all]+" ", outcomeStyle[all], plural(len(runs), "run")+": ", strong, strings.Join(parts, ", "), 0)
}
