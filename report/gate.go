package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// GateOptions say where things are, for the lines that tell what to do next.
type GateOptions struct {
	Text  TextOptions
	Known string // the file of known findings
	Exit  int
}

var gateStyle = map[gate.Outcome]style{gate.Pass: good, gate.Fail: bad, gate.HostFailed: bad, gate.Inconclusive: warn}

var gateGlyph = map[gate.Outcome]string{gate.Pass: "✓", gate.Fail: "✗", gate.HostFailed: "✗", gate.Inconclusive: "?"}

// Gate writes what a gate says for a terminal or a CI log: what has to be done
// first, the answer in the last line. The error is w's.
func Gate(w io.Writer, r *gate.Result, o GateOptions) error {
	var buf bytes.Buffer
	p := newPrinter(&buf, o.Text)
	for _, f := range r.Failing() {
		p.failingFinding(&f, o)
		p.blank()
	}
	p.badEntries(r, o)
	p.unsure(r)
	p.gateMeasures(r)
	p.rest(r, o)
	p.item(0, gateGlyph[r.Outcome]+" ", gateStyle[r.Outcome]|strong, "gate: "+string(r.Outcome)+": ", gateStyle[r.Outcome]|strong,
		fmt.Sprintf("%s. %s, %s%s; exit %d", r.Reason, plural(r.Plays, "scenario"), plural(len(r.Runs), "run"), retriedText(r.Retried), o.Exit), strong)
	_, err := w.Write(buf.Bytes())
	return err
}

func retriedText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d tried again)", n)
}

const gateColumn = 10 // where the texts of a gate begin, less 1

func (p *printer) failingFinding(f *gate.Finding, o GateOptions) {
	p.item(0, pad(strings.ToUpper(string(f.Fate)), gateColumn), bad|strong, fmt.Sprintf("%s on %s: %s %s  ", f.Scenario, f.Host, f.Law, f.Kind), strong, f.Title+"  "+f.Fingerprint, strong)
	v := &f.Finding.Finding
	p.field(2, gateColumn-1, "expected", v.Expected)
	p.field(2, gateColumn-1, "found", v.Found)
	head, more := firstOf(v.Values, textValues)
	for i, value := range head {
		name := ""
		if i == 0 {
			name = "values"
		}
		p.field(2, gateColumn-1, name, value)
	}
	if more > 0 {
		p.field(2, gateColumn-1, "", fmt.Sprintf("and %d more", more))
	}
	p.field(2, gateColumn-1, "why", v.Why)
	p.field(2, gateColumn-1, "fix", v.Fix)
	p.field(2, gateColumn-1, "seen", seenText(f))
	if f.Run != nil {
		p.field(2, gateColumn-1, "report", f.Run.Page)
		if f.Run.Run != nil && len(f.Run.Run.Header.Command) > 0 {
			p.field(2, gateColumn-1, "again", shell(f.Run.Run.Header.Command))
		}
	}
	p.field(2, gateColumn-1, "or", "accept it for now: "+shell(acceptCommand(f, o)))
}

// seenText says how often a finding was seen, where that is not plain.
func seenText(f *gate.Finding) string {
	text := ""
	if f.Head.Of > 1 {
		text = fmt.Sprintf("in %s runs", f.Head)
	}
	if f.Note == "" {
		return text
	}
	if text != "" {
		text += "; "
	}
	return text + f.Note
}

func acceptCommand(f *gate.Finding, o GateOptions) []string {
	words := []string{"leakbench", "known", "update"}
	if o.Known != "" && o.Known != known.File {
		words = append(words, "--known", o.Known)
	}
	return append(words, "--only", f.Name(), "--reason", "WHY")
}

func (p *printer) badEntries(r *gate.Result, o GateOptions) {
	bad, stale := r.Bad(), false
	for i := range bad {
		e := &bad[i]
		p.item(0, pad(upper(e.State), gateColumn), warn|strong, fmt.Sprintf("%s:%d:%d: ", o.Known, e.Line, e.Column), strong, e.Finding()+": "+e.Text(), 0)
		p.field(2, gateColumn-1, "reason", e.Reason)
		stale = stale || e.State == known.Stale
	}
	if stale {
		p.field(2, gateColumn-1, "fix", "leakbench known prune takes them out. A finding that not every run shows: sometimes: true")
	}
	if len(bad) > 0 {
		p.blank()
	}
}

func upper(s known.State) string {
	return map[known.State]string{known.Stale: "STALE", known.Expired: "EXPIRED"}[s]
}

// unsureText is what can be said of a run that is no pass for its doubts.
func unsureText(j *verdict.Judged) string {
	if j.Verdict.Outcome == verdict.Inconclusive {
		return "nothing can be said of this run"
	}
	return "what it has found may not be all"
}

func (p *printer) unsure(r *gate.Result) {
	for _, j := range r.Unsure {
		scenario, host := playOf(j)
		p.item(0, pad("UNSURE", gateColumn), warn|strong, scenario+" on "+host+": ", strong, unsureText(j), 0)
		doubts, more := firstOf(j.Verdict.Doubts, textDoubts)
		for _, d := range doubts {
			p.field(2, gateColumn-1, "doubt", d.Text)
		}
		if more > 0 {
			p.field(2, gateColumn-1, "", fmt.Sprintf("and %d more", more))
		}
		p.field(2, gateColumn-1, "report", j.Page)
		p.blank()
	}
	for _, m := range r.Missing {
		p.item(0, pad("MISSING", gateColumn), warn|strong, "", 0, m, 0)
	}
	if len(r.Missing) > 0 {
		p.blank()
	}
}

func (p *printer) gateMeasures(r *gate.Result) {
	c := r.Compared
	if c == nil {
		return
	}
	if len(c.Counts) > 0 || len(c.Measures) > 0 || len(c.Notes) > 0 {
		p.item(0, "", 0, "", 0, fmt.Sprintf("beside the baseline (%s there%s):", plural(c.Base, "run"), otherHost(c.Renamed)), strong)
		p.comparedNumbers(c)
		if len(r.Slower()) > 0 && r.Measures == gate.MeasuresWarn {
			p.item(2, "", 0, "", 0, "what has grown is told and fails nothing (--measures warn)", dim)
		}
		p.blank()
	}
}

// rest is what asks for nothing.
func (p *printer) rest(r *gate.Result, o GateOptions) {
	any := false
	line := func(mark string, look style, play compare.Play, head, text string) {
		any = true
		p.item(0, pad(mark, gateColumn), look, playText(play)+head, 0, text, 0)
	}
	for _, f := range r.Flakes {
		line("flaky", warn, f.Play, ": ", f.Text)
	}
	for i := range r.Strange {
		any = true
		e := &r.Strange[i]
		p.item(0, pad("unused", gateColumn), warn, fmt.Sprintf("%s:%d:%d: ", o.Known, e.Line, e.Column), 0, strangeText(e), 0)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		text := f.Title
		switch f.Fate {
		case gate.New, gate.Unlisted:
			continue
		case gate.Listed:
			text += fmt.Sprintf(" (%s; until %s)", f.Entry.Reason, f.Entry.Expires.Format(time.DateOnly))
		case gate.Fixed, gate.InBase:
			if f.Note != "" {
				text += " (" + f.Note + ")"
			}
		}
		line(fateWord[f.Fate], fateLook[f.Fate], f.Play, fmt.Sprintf(": %s %s  ", f.Law, f.Kind), text)
	}
	if any {
		p.blank()
	}
}

// strangeText says why an entry is neither found nor stale.
func strangeText(e *known.Checked) string {
	return fmt.Sprintf("%s: no scenario %q was played, and none has that name; leakbench list scenarios has those there are", e.Finding(), e.Scenario)
}

var fateWord = map[gate.Fate]string{gate.Warning: "warning", gate.Listed: "listed", gate.InBase: "known", gate.Fixed: "fixed"}

var fateLook = map[gate.Fate]style{gate.Warning: warn, gate.Listed: dim, gate.InBase: dim, gate.Fixed: good}

func otherHost(r *compare.Renamed) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(", of host %s", r.From)
}
