package terminal

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/rows"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// Options shape the text report. The zero value is plain text, 100 columns wide, with long lists cut short.
type Options struct {
	Color   bool
	Width   int  // columns; 0 is 100, at least 40 are used
	Window  bool // it is shown in a window of that width: a table that is wider loses columns
	Verbose bool // all values, all laws, the evidence on each process
	Brief   bool // of several runs: those that failed, a screen each, and the names of the others
	// NotApplicable is how many scenarios were asked for that can't be asked of the host.
	NotApplicable int
}

// How much of a list is shown without Verbose.
const (
	TextValues  = 4
	textServers = 8
	TextDoubts  = 8
	textMost    = 1000 // even with Verbose
)

// Text writes the verdicts for a terminal or a CI log.
func Text(b *bytes.Buffer, runs []verdict.Judged, o Options) {
	p := NewPrinter(b, o)
	if o.Brief = o.Brief && !o.Verbose && len(runs) > 1; o.Brief {
		p.failures(runs)
	}
	for i := range runs {
		if o.Brief {
			break
		}
		if i > 0 {
			p.Blank()
		}
		p.run(&runs[i])
	}
	if len(runs) != 1 || o.NotApplicable > 0 {
		p.summary(runs)
	}
}

// screen is how many lines of a run that failed are shown beside others.
const screen = 40

// failures are the runs that are not clean, a screen each.
func (p *Printer) failures(runs []verdict.Judged) {
	var clean, warnings []string
	for i := range runs {
		if v := &runs[i].Verdict; v.Outcome == verdict.Clean {
			name := runs[i].Run.Header.Scenario.String()
			clean = append(clean, name)
			for k := range v.Findings {
				f := &v.Findings[k]
				warnings = append(warnings, fmt.Sprintf("%s: %s %s, %s: %s", name, f.Law, f.Kind, f.Title, f.Found))
			}
			continue
		}
		var b bytes.Buffer
		one := Printer{Options: p.Options, out: &b}
		one.run(&runs[i])
		lines := strings.SplitAfter(b.String(), "\n")
		p.out.WriteString(strings.Join(lines[:min(len(lines), screen)], ""))
		if more := len(lines) - 1 - screen; more > 0 {
			p.Field(2, fieldWidth, "more",
				fmt.Sprintf("%s: -v shows all, and so does the report %s", text.Count(more, "line"), cmp.Or(runs[i].Page, runs[i].Dir)))
		}
		p.Blank()
	}
	p.Styled(0, fieldWidth, "clean", strings.Join(clean, ", "), Good)
	p.Fields(0, fieldWidth, "warnings", p.capped(warnings, TextDoubts))
}

// OutcomeStyle is how an outcome looks.
var OutcomeStyle = map[verdict.Outcome]Style{verdict.Clean: Good, verdict.Leak: Bad, verdict.Inconclusive: Warn}

func (p *Printer) run(j *verdict.Judged) {
	s := model.New(j)
	v := &j.Verdict
	style := OutcomeStyle[v.Outcome]
	p.Item(0, cmp.Or(model.OutcomeGlyph[v.Outcome], "?")+" ", style|Strong, model.OutcomeWord(v)+"  ", style|Strong,
		fmt.Sprintf("%s on %s%s", s.Header.Scenario, s.Header.Host.Name, tally(v)), Strong)
	if v.Watched != nil {
		p.watched(v.Watched, 0)
	} else {
		p.played(s)
	}
	for i := range s.Ordered {
		p.Blank()
		p.finding(&s.Ordered[i])
	}
	if v.Watched != nil {
		p.ends(v.Watched)
	}
	p.doubts(s)
	p.Blank()
	p.laws(v.Laws)
	p.rows(j)
	p.failedSteps(s)
	p.Field(2, fieldWidth, "alone", s.Header.Again)
	switch {
	case j.Page != "":
		p.Field(2, fieldWidth, "report", j.Page)
	case j.Dir != "":
		p.Field(2, fieldWidth, "run", j.Dir)
	}
	if v.Outcome != verdict.Clean && len(s.Header.Command) > 0 {
		p.Field(2, fieldWidth, "again", words.Shell(s.Header.Command))
	}
}

// played is what a run that was played came to.
func (p *Printer) played(s *model.Run) {
	v := &s.Verdict
	p.Field(2, 0, "", fmt.Sprintf("%s, %d alive at most, %d left at the end; %s in %s",
		model.Launched(s.Judged), v.PeakLive, v.Left, stepsText(s), duration.Text(s.End)))
	p.Fields(2, fieldWidth, "own limit", p.capped(s.OwnLimits(), TextValues))
	p.Fields(2, fieldWidth, "came back", p.capped(s.Reconnects(), TextValues))
	for i, line := range model.NewSoak(v.Soak).Lines() {
		p.Field(2, fieldWidth, []string{"soak", ""}[min(i, 1)], line)
	}
}

// stepsText is "86 steps", or "9 steps (8 skipped)".
func stepsText(s *model.Run) string {
	text := text.Count(len(s.History.Steps()), "step")
	if n := s.Skipped(); n > 0 {
		text += fmt.Sprintf(" (%d skipped)", n)
	}
	if left := s.Header.Scenario.Omitted; left != "" {
		text += " (" + left + " left out)"
	}
	return text
}

func tally(v *verdict.Verdict) string {
	errors := 0
	for i := range v.Findings {
		if v.Findings[i].IsError() {
			errors++
		}
	}
	text := words.Counted(words.Things{N: errors, Noun: "finding"}, words.Things{N: len(v.Findings) - errors, Noun: "warning"},
		words.Things{N: len(v.Doubts), Noun: "doubt"})
	if text == "" {
		return ""
	}
	return ": " + text
}

// fieldWidth is the column of the names before values: "expected  ".
const fieldWidth = 10

func (p *Printer) finding(f *verdict.Finding) {
	mark, look := "✗ ", Bad
	if !f.IsError() {
		mark, look = "! ", Warn
	}
	p.Item(2, mark, look, fmt.Sprintf("%s %s  ", f.Law, f.Kind), look|Strong, f.Title, Strong)
	p.Field(4, fieldWidth, "expected", f.Expected)
	p.Field(4, fieldWidth, "found", f.Found)
	p.Fields(4, fieldWidth, "values", p.capped(f.Values, TextValues))
	for _, g := range model.StdinHolds(f) {
		p.Field(4, fieldWidth, "held by", model.StdinHoldLine(g))
	}
	if p.Verbose || len(f.Values) == 0 { // the values name them
		p.Field(4, fieldWidth, "servers", strings.Join(p.capped(f.Servers, textServers), ", "))
	}
	if p.Verbose {
		for i := range f.Evidence {
			p.Field(4, fieldWidth, "evidence", evidenceLine(&f.Evidence[i]))
		}
	}
	p.Field(4, fieldWidth, "why", f.Why)
	p.Field(4, fieldWidth, "fix", f.Fix)
	p.Field(4, fieldWidth, "reports", strings.Join(p.capped(f.Reports, TextValues), ", "))
	about := "leakbench explain " + f.Kind
	if f.Checkpoint != "" {
		about = fmt.Sprintf("seen at checkpoint %q; %s", words.Clean(f.Checkpoint, words.MaxName), about)
	}
	if f.Fingerprint != "" {
		about += "; fingerprint " + f.Fingerprint
	}
	p.Field(4, fieldWidth, "more", about)
}

func (p *Printer) limit(n int) int {
	if p.Verbose {
		return textMost
	}
	return n
}

// capped are the first of some values, each cut short.
func (p *Printer) capped(values []string, limit int) []string {
	out := words.Some(values, p.limit(limit))
	for i := range out {
		out[i] = words.Clean(out[i], words.MaxText/4)
	}
	return out
}

func evidenceLine(e *record.Evidence) string {
	parts := []string{
		fmt.Sprintf("%s pid %d", cmp.Or(e.Server, e.Comm), e.PID), "state " + string(e.State),
		fmt.Sprintf("ppid %d pgid %d sid %d", e.PPID, e.PGID, e.SID), "rss " + words.Size(e.RSS), "age " + duration.Text(e.Age),
	}
	if e.Parent != "" {
		parts = append(parts, "parent: "+e.Parent)
	}
	if e.Job != "" {
		parts = append(parts, "in "+e.Job)
	}
	if w := model.Waiting(e); w != "" {
		parts = append(parts, w)
	}
	if len(e.SigIgnored) > 0 {
		parts = append(parts, "ignores "+strings.Join(e.SigIgnored, " "))
	}
	if len(e.SigPending) > 0 {
		parts = append(parts, "pending "+strings.Join(e.SigPending, " "))
	}
	for i := range e.Descriptors {
		parts = append(parts, fmt.Sprintf("fd %d %s", e.Descriptors[i].FD, model.HeldBy(&e.Descriptors[i])))
	}
	return strings.Join(parts, ", ")
}

func (p *Printer) doubts(s *model.Run) {
	if len(s.Verdict.Doubts) == 0 {
		return
	}
	p.Blank()
	head, more := words.FirstOf(s.Verdict.Doubts, p.limit(TextDoubts))
	for i, d := range head {
		p.Item(2, "? ", Warn, string(d.Code)+"  ", Warn|Strong, d.Text, 0)
		if last := i+1 == len(head) || head[i+1].Code != d.Code; last {
			p.Field(4, fieldWidth, "do", s.AdviceOn(d.Code))
		}
	}
	if more > 0 {
		p.Field(4, 0, "", fmt.Sprintf("and %s more", text.Count(more, "doubt")))
	}
}

// laws is one line for all that were kept, and one for each that was not.
func (p *Printer) laws(laws []verdict.LawResult) {
	var kept, broken, open []string
	for _, l := range laws {
		name := words.Clean(l.Law+" "+l.Name, words.MaxName)
		switch l.Status {
		case verdict.LawKept:
			kept = append(kept, name)
		case verdict.LawBroken:
			broken = append(broken, name)
		default:
			if p.Verbose && l.Reason != "" {
				name += " (" + words.Clean(l.Reason, words.MaxText/4) + ")"
			}
			open = append(open, name)
		}
	}
	p.Styled(2, fieldWidth, "broken", strings.Join(broken, ", "), Bad)
	p.Styled(2, fieldWidth, "kept", strings.Join(kept, ", "), Good)
	p.Styled(2, fieldWidth, "not judged", strings.Join(open, ", "), Dim)
}

// rowStyle is how what came of a row looks.
var rowStyle = map[rows.Status]Style{rows.Success: Good, rows.Failure: Bad, rows.Warning: Warn, rows.Skipped: Dim}

// rows are those of the specification that the scenario plays.
func (p *Printer) rows(j *verdict.Judged) {
	for i, c := range rows.Of(j.Run, j.History) {
		p.Styled(2, fieldWidth, []string{"rows", ""}[min(i, 1)],
			fmt.Sprintf("%s %s: %s", c.Status, c.Row, words.Clean(c.Message, words.MaxText)), rowStyle[c.Status])
	}
}

// failedSteps tells of the steps that did not go as the scenario expects.
func (p *Printer) failedSteps(s *model.Run) {
	var odd []string
	for _, st := range s.History.Steps() {
		if !model.AsExpected(st) {
			odd = append(odd, fmt.Sprintf("%d %s", st.N, model.StepTitle(st)))
		}
	}
	p.Styled(2, fieldWidth, "odd steps", strings.Join(p.capped(odd, 3), "; "), Warn)
}

func (p *Printer) summary(runs []verdict.Judged) {
	if len(runs) == 0 {
		p.Item(0, "? ", Warn, "no run", Warn|Strong, "", 0)
		return
	}
	p.Blank()
	all := model.Worst(runs)
	p.Item(0, model.OutcomeGlyph[all]+" ", OutcomeStyle[all], text.Count(len(runs), "run")+": ", Strong,
		model.Tally(runs, verdict.Clean, verdict.Leak, verdict.Inconclusive)+model.Played(runs, p.NotApplicable), 0)
}
