package baseline

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/terminal"
	"github.com/leakbench/leakbench/report/words"
)

// GateOptions say where things are, for the lines that tell what to do next.
type GateOptions struct {
	Text  terminal.Options
	Known string // the file of known findings
	Exit  int
}

// LooksLike is the outcome of a run that looks as a gate's does.
var LooksLike = map[gate.Outcome]verdict.Outcome{
	gate.Pass: verdict.Clean, gate.Fail: verdict.Leak, gate.HostFailed: verdict.Leak, gate.Inconclusive: verdict.Inconclusive,
}

// Gate writes what a gate says for a terminal or a CI log: what has to be done first, the answer in the last line.
func Gate(b *bytes.Buffer, r *gate.Result, o GateOptions) {
	p := terminal.NewPrinter(b, o.Text)
	for _, f := range r.Failing() {
		failingFinding(p, &f, o)
		p.Blank()
	}
	badEntries(p, r, o)
	unsure(p, r)
	gateMeasures(p, r)
	rest(p, r, o)
	like := LooksLike[r.Outcome]
	style := terminal.OutcomeStyle[like] | terminal.Strong
	p.Item(0, model.OutcomeGlyph[like]+" ", style, "gate: "+string(r.Outcome)+": ", style,
		fmt.Sprintf("%s. %s; exit %d", r.Reason, GateRuns(r), o.Exit), terminal.Strong)
}

// GateRuns says how much a gate has played: "3 scenarios, 6 runs (and 1 tried again)".
func GateRuns(r *gate.Result) string {
	return text.Count(r.Plays, "scenario") + ", " + text.Count(len(r.Runs), "run") + retriedText(r.Retried) +
		model.Played(r.Runs, len(r.NotApplicable))
}

// retriedText says how many runs were tried again.
func retriedText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d tried again)", n)
}

const gateColumn = 10 // where the texts of a gate begin, less 1

func failingFinding(p *terminal.Printer, f *gate.Finding, o GateOptions) {
	p.Item(0, terminal.Pad(strings.ToUpper(string(f.Decision)), gateColumn), terminal.Bad|terminal.Strong,
		fmt.Sprintf("%s: %s %s  ", f.Play, f.Law, f.Kind), terminal.Strong, f.Title+"  "+f.Fingerprint, terminal.Strong)
	v := &f.Finding.Finding
	p.Field(2, gateColumn-1, "expected", v.Expected)
	p.Field(2, gateColumn-1, "found", v.Found)
	p.Fields(2, gateColumn-1, "values", words.Some(v.Values, terminal.TextValues))
	p.Field(2, gateColumn-1, "why", v.Why)
	p.Field(2, gateColumn-1, "fix", v.Fix)
	p.Field(2, gateColumn-1, "seen", SeenText(f))
	if f.Expired != nil {
		p.Field(2, gateColumn-1, "entry", ExpiredText(f, o))
	}
	if f.Run != nil {
		p.Field(2, gateColumn-1, "report", f.Run.Page)
		p.Field(2, gateColumn-1, "again", model.Again(f.Run))
	}
	p.Field(2, gateColumn-1, "or", "accept it for now: "+AcceptCommand(f, o))
}

// ExpiredText says which entry listed a finding until it expired.
func ExpiredText(f *gate.Finding, o GateOptions) string {
	e := f.Expired
	return fmt.Sprintf("%s:%d:%d: expired on %s (%s)", o.Known, e.Line, e.Column, e.Expires.Format(time.DateOnly), e.Reason)
}

// SeenText says how often a finding was seen, where that is not plain.
func SeenText(f *gate.Finding) string {
	switch {
	case f.Head.Of <= 1:
		return f.Note
	case f.Note == "":
		return fmt.Sprintf("in %s runs", f.Head)
	}
	return fmt.Sprintf("in %s runs; %s", f.Head, f.Note)
}

// OldName says that a list has a finding under a name that it does not have any more.
func OldName(f *gate.Finding) string {
	if f.Entry == nil || !f.Entry.Outdated(&f.Finding.Finding) {
		return ""
	}
	return fmt.Sprintf("accepted under its old fingerprint %s, `leakbench known update` rewrites it", f.Entry.Fingerprint)
}

// AcceptCommand lists a finding as known.
func AcceptCommand(f *gate.Finding, o GateOptions) string {
	return knownCommand(o.Known, "update", "--only", f.Name(), "--reason", "WHY")
}

// knownCommand changes a list of known findings.
func knownCommand(list string, args ...string) string {
	all := []string{"leakbench", "known"}
	if list != "" && list != known.File {
		all = append(all, "--known", list)
	}
	return words.Shell(append(all, args...))
}

func badEntries(p *terminal.Printer, r *gate.Result, o GateOptions) {
	bad, stale := r.Alone(), false
	for i := range bad {
		e := &bad[i]
		p.Item(0, terminal.Pad(strings.ToUpper(string(e.State)), gateColumn), terminal.Warn|terminal.Strong,
			fmt.Sprintf("%s:%d:%d: ", o.Known, e.Line, e.Column), terminal.Strong, e.Finding()+": "+e.Text(), 0)
		p.Field(2, gateColumn-1, "reason", e.Reason)
		stale = stale || e.State == known.Stale
	}
	if stale {
		p.Field(2, gateColumn-1, "fix", knownCommand(o.Known, "prune")+" takes them out. A finding that not every run shows: sometimes: true")
	}
	if len(bad) > 0 {
		p.Blank()
	}
}

// unsureText is what can be said of a run that is no pass for its doubts.
func unsureText(j *verdict.Judged) string {
	if j.Verdict.Outcome == verdict.Inconclusive {
		return "nothing can be said of this run"
	}
	return "what it has found may not be all"
}

func unsure(p *terminal.Printer, r *gate.Result) {
	for _, j := range r.Unsure {
		p.Item(0, terminal.Pad("UNSURE", gateColumn), terminal.Warn|terminal.Strong, compare.PlayOf(j).String()+": ", terminal.Strong,
			unsureText(j), 0)
		doubts, more := words.FirstOf(j.Verdict.Doubts, terminal.TextDoubts)
		for _, d := range doubts {
			p.Field(2, gateColumn-1, "doubt", d.Text)
		}
		if more > 0 {
			p.Field(2, gateColumn-1, "", fmt.Sprintf("and %d more", more))
		}
		p.Field(2, gateColumn-1, "report", j.Page)
		p.Blank()
	}
	for _, n := range r.Lost {
		p.Item(0, terminal.Pad("LOST", gateColumn), terminal.Bad|terminal.Strong, n.Scenario+" on "+n.Host+": ", terminal.Strong,
			"the baseline has runs of it, and now it is not applicable: "+n.Why, 0)
	}
	if len(r.Lost) > 0 {
		p.Blank()
	}
	for _, m := range r.Missing {
		p.Item(0, terminal.Pad("MISSING", gateColumn), terminal.Warn|terminal.Strong, "", 0, m, 0)
	}
	if len(r.Missing) > 0 {
		p.Blank()
	}
}

func gateMeasures(p *terminal.Printer, r *gate.Result) {
	c := r.Compared
	if c == nil {
		return
	}
	if len(c.Counts) > 0 || len(c.Measures) > 0 || len(c.Notes) > 0 {
		p.Item(0, "", 0, "", 0, fmt.Sprintf("beside the baseline (%s there%s):", text.Count(c.Base, "run"), otherHost(c.Renamed)),
			terminal.Strong)
		comparedNumbers(p, c)
		if len(r.Slower()) > 0 && r.Measures == gate.MeasuresWarn {
			p.Item(2, "", 0, "", 0, "growth is reported and does not fail the gate (--measures warn)", terminal.Dim)
		}
		p.Blank()
	}
}

// rest is what asks for nothing.
func rest(p *terminal.Printer, r *gate.Result, o GateOptions) {
	any := false
	line := func(mark string, look terminal.Style, play compare.Play, head, text string) {
		any = true
		p.Item(0, terminal.Pad(mark, gateColumn), look, play.String()+head, 0, text, 0)
	}
	for _, f := range r.Flakes {
		line("flaky", terminal.Warn, f.Play, ": ", f.Text)
	}
	for i := range r.Strange {
		any = true
		e := &r.Strange[i]
		p.Item(0, terminal.Pad("unused", gateColumn), terminal.Warn, fmt.Sprintf("%s:%d:%d: ", o.Known, e.Line, e.Column), 0, StrangeText(e), 0)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		text := f.Title
		switch f.Decision {
		case gate.New, gate.Expired, gate.Unlisted:
			continue
		case gate.Listed:
			text += fmt.Sprintf(" (%s; until %s)", f.Entry.Reason, f.Entry.Expires.Format(time.DateOnly))
			if old := OldName(f); old != "" {
				text += ": " + old
			}
		case gate.Fixed, gate.InBase:
			if f.Note != "" {
				text += " (" + f.Note + ")"
			}
		}
		line(DecisionWord[f.Decision], decisionStyle[f.Decision], f.Play, fmt.Sprintf(": %s %s  ", f.Law, f.Kind), text)
	}
	if any {
		p.Blank()
	}
}

// StrangeText says why an entry is neither found nor stale.
func StrangeText(e *known.Checked) string {
	return fmt.Sprintf("%s: there is no scenario %q; leakbench list scenarios shows the names",
		e.Finding(), e.Scenario)
}

// DecisionWord is what a finding that asks for nothing is called.
var DecisionWord = map[gate.Decision]string{gate.Warning: "warning", gate.Listed: "listed", gate.InBase: "known", gate.Fixed: "fixed"}

var decisionStyle = map[gate.Decision]terminal.Style{
	gate.Warning: terminal.Warn, gate.Listed: terminal.Dim, gate.InBase: terminal.Dim, gate.Fixed: terminal.Good,
}

func otherHost(r *compare.Renamed) string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf(", of host %s", r.From)
}

// Known writes a list of known findings with what became of each entry.
func Known(b *bytes.Buffer, file string, all []known.Checked, o terminal.Options) {
	p := terminal.NewPrinter(b, o)
	const loud = terminal.Warn | terminal.Strong
	looks := map[known.State]terminal.Style{known.Stale: loud, known.Expired: loud, known.Found: terminal.Good}
	for i := range all {
		e := &all[i]
		host := ""
		if e.Host != "" {
			host = " on " + e.Host
		}
		p.Item(0, terminal.Pad(string(e.State), 10), looks[e.State], fmt.Sprintf("%s%s  ", e.Finding(), host), terminal.Strong, e.Text(), 0)
		p.Field(10, 0, "", e.Reason)
	}
	if len(all) == 0 {
		p.Item(0, "", 0, "", 0, file+" lists nothing", 0)
	}
}
