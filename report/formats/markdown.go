package formats

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// How much a summary shows: GitHub takes 1 MiB of a step, people less.
const (
	mdRuns     = 200
	mdFindings = 30
	mdDoubts   = 20
)

// Markdown writes a summary of the runs, and the findings of each; not scenarios were asked for and are not applicable.
func Markdown(b *bytes.Buffer, runs []verdict.Judged, not int) {
	_, title := model.Headline(runs, not)
	fmt.Fprintf(b, "## %s leakbench: %s\n\n", mdGlyph[model.Worst(runs)], words.Markdown(title, words.MaxText))
	mdTable(b, runs)
	left := mdFindings
	for i := range runs {
		left = mdRun(b, &runs[i], left)
	}
}

// mdGlyph is also told apart without its colour.
var mdGlyph = map[verdict.Outcome]string{verdict.Clean: "✅", verdict.Leak: "❌", verdict.Inconclusive: "❔"}

func mdTable(b *bytes.Buffer, runs []verdict.Judged) {
	if len(runs) == 0 {
		return
	}
	b.WriteString("| scenario | host | verdict | findings | leaked | launched | at most | left | took |\n" +
		"|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	head, more := words.FirstOf(runs, mdRuns)
	for i := range head {
		j := &head[i]
		v := &j.Verdict
		play := compare.PlayOf(j)
		fmt.Fprintf(b, "| %s | %s | %s %s | %d | %d | %d | %d | %d | %s |\n",
			words.Markdown(play.What(), words.MaxName), words.Markdown(play.Host, words.MaxName),
			mdGlyph[v.Outcome], words.Markdown(string(v.Outcome), words.MaxName),
			len(v.Findings), model.ImpactOf(v).Left, v.Spawned, v.PeakLive, v.Left, duration.Text(model.Lasted(j)))
	}
	if more > 0 {
		fmt.Fprintf(b, "\nand %s more\n", text.Count(more, "run"))
	}
	b.WriteByte('\n')
}

// mdRun tells of the findings and doubts of a run; left is how many findings may still be shown.
func mdRun(b *bytes.Buffer, j *verdict.Judged, left int) int {
	v := &j.Verdict
	if len(v.Findings) == 0 && len(v.Doubts) == 0 {
		return left
	}
	fmt.Fprintf(b, "### %s\n\n", mdPlay(compare.PlayOf(j)))
	head, more := words.FirstOf(model.GravestFirst(v.Findings), max(left, 0))
	for i := range head {
		mdFinding(b, &head[i])
	}
	if more > 0 {
		fmt.Fprintf(b, "and %s more\n\n", text.Count(more, "finding"))
	}
	doubts, moreDoubts := words.FirstOf(v.Doubts, mdDoubts)
	for _, d := range doubts {
		fmt.Fprintf(b, "- ❔ %s: %s\n", words.MarkdownCode(string(d.Code), words.MaxName), words.Markdown(d.Text, words.MaxText/2))
	}
	if moreDoubts > 0 {
		fmt.Fprintf(b, "- and %s more\n", text.Count(moreDoubts, "doubt"))
	}
	if len(doubts) > 0 {
		b.WriteByte('\n')
	}
	if again := model.Again(j); again != "" {
		fmt.Fprintf(b, "Again: %s\n\n", words.MarkdownCode(again, words.MaxText))
	}
	return left - len(head)
}

func mdFinding(b *bytes.Buffer, f *verdict.Finding) {
	glyph := "❌"
	if !f.IsError() {
		glyph = "⚠️"
	}
	fmt.Fprintf(b, "%s **%s** %s ×%d: **%s**\n\n", glyph, words.Markdown(f.Law, words.MaxName),
		words.MarkdownCode(f.Kind, words.MaxName), f.Count, words.Markdown(f.Title, words.MaxText/2))
	fmt.Fprintf(b, "- expected: %s\n- found: %s\n", words.Markdown(f.Expected, words.MaxText/2), words.Markdown(f.Found, words.MaxText/2))
	gs, _ := words.FirstOf(model.StdinHolds(f), model.HoldsOf)
	for _, g := range gs {
		fmt.Fprintf(b, "- held by: %s\n", words.Markdown(model.StdinHoldLine(g), words.MaxText/2))
	}
	b.WriteString("\n<details><summary>why, fix, values</summary>\n\n")
	for _, row := range []struct{ name, text string }{{"Why", f.Why}, {"Fix", f.Fix}} {
		if row.text != "" {
			fmt.Fprintf(b, "**%s.** %s\n\n", row.name, words.Markdown(row.text, words.MaxText))
		}
	}
	for _, v := range words.Some(f.Values, 20) {
		fmt.Fprintf(b, "- %s\n", words.Markdown(v, words.MaxText/4))
	}
	fmt.Fprintf(b, "\nFingerprint %s\n\n</details>\n\n", words.MarkdownCode(f.Fingerprint, words.MaxName))
}

func mdPlay(p compare.Play) string {
	return words.Markdown(p.What(), words.MaxName) + " on " + words.Markdown(p.Host, words.MaxName)
}

var failingTitle = map[gate.Decision]string{gate.New: "New", gate.Expired: "Expired", gate.Unlisted: "Unlisted"}

// GateMarkdown is what a gate says for the summary of a CI step and for a comment: what has to be done first, the rest folded.
func GateMarkdown(b *bytes.Buffer, r *gate.Result, o baseline.GateOptions) {
	fmt.Fprintf(b, "## %s leakbench gate: %s\n\n%s. %s.\n\n",
		mdGlyph[baseline.LooksLike[r.Outcome]], r.Outcome, words.Markdown(r.Reason, words.MaxText), baseline.GateRuns(r))
	fresh, more := words.FirstOf(r.Failing(), mdFindings)
	for i := range fresh {
		f := &fresh[i]
		fmt.Fprintf(b, "### %s: %s\n\n", failingTitle[f.Decision], mdPlay(f.Play))
		mdFinding(b, &f.Finding.Finding)
		if text := baseline.SeenText(f); text != "" {
			fmt.Fprintf(b, "Seen %s.\n\n", words.Markdown(text, words.MaxText))
		}
		if f.Expired != nil {
			fmt.Fprintf(b, "Its entry: %s.\n\n", words.Markdown(baseline.ExpiredText(f, o), words.MaxText))
		}
		if again := model.Again(f.Run); again != "" {
			fmt.Fprintf(b, "Again: %s<br>Accept it for now: %s\n\n",
				words.MarkdownCode(again, words.MaxText), words.MarkdownCode(baseline.AcceptCommand(f, o), words.MaxText))
		}
	}
	if more > 0 {
		fmt.Fprintf(b, "and %s more\n\n", text.Count(more, "finding"))
	}
	mdTodo(b, r, o)
	mdCompared(b, r)
	mdRest(b, r)
}

// mdTodo is what else has to be dealt with.
func mdTodo(b *bytes.Buffer, r *gate.Result, o baseline.GateOptions) {
	var items []string
	bad := r.Alone()
	for i := range bad {
		e := bad[i]
		items = append(items, fmt.Sprintf("**%s** %s line %d: %s %s",
			strings.ToUpper(string(e.State)), words.MarkdownCode(o.Known, words.MaxName), e.Line,
			words.MarkdownCode(e.Finding(), words.MaxName), words.Markdown(e.Text(), words.MaxText)))
	}
	for _, j := range r.Unsure {
		items = append(items,
			fmt.Sprintf("❔ %s is inconclusive: %s", mdPlay(compare.PlayOf(j)), words.Markdown(model.FirstDoubt(j), words.MaxText/2)))
	}
	for _, m := range r.Missing {
		items = append(items, "❔ not run: "+words.Markdown(m, words.MaxText/2))
	}
	mdItems(b, items)
}

func mdItems(b *bytes.Buffer, items []string) {
	for _, it := range words.Some(items, mdRuns) {
		fmt.Fprintf(b, "- %s\n", it)
	}
	if len(items) > 0 {
		b.WriteByte('\n')
	}
}

func mdCompared(b *bytes.Buffer, r *gate.Result) {
	c := r.Compared
	if c == nil {
		return
	}
	var rows [][]string
	for _, n := range c.Counts {
		rows = append(rows,
			[]string{n.String() + ": " + n.Name, baseline.RangeText(n.Base), baseline.RangeText(n.Head), baseline.Signed(n.Delta()), ""})
	}
	quiet := 0
	for i := range c.Measures {
		if m := &c.Measures[i]; m.Change == compare.Worse || m.Change == compare.Better {
			rows = append(rows, baseline.MeasureRow(m))
		} else {
			quiet++
		}
	}
	if len(rows) > 0 {
		b.WriteString("| beside the baseline | before | now | change | |\n|---|--:|--:|--:|---|\n")
		head, more := words.FirstOf(rows, mdRuns)
		for _, row := range head {
			for _, cell := range row {
				fmt.Fprintf(b, "| %s ", words.Markdown(cell, words.MaxText/8))
			}
			b.WriteString("|\n")
		}
		if more > 0 {
			fmt.Fprintf(b, "\nand %d more rows\n", more)
		}
		b.WriteByte('\n')
	}
	if quiet > 0 {
		found := "no change shown"
		if c.Tests == 0 {
			found = "not tested: " + baseline.NeedText(c)
		}
		fmt.Fprintf(b, "%s of times and sizes: %s.\n\n", text.Count(quiet, "measure"), found)
	}
	var notes []string
	for _, s := range c.Notes {
		notes = append(notes, words.Markdown(s, words.MaxText/2))
	}
	mdItems(b, notes)
}

func mdRest(b *bytes.Buffer, r *gate.Result) {
	var items []string
	for _, f := range r.Flakes {
		items = append(items, fmt.Sprintf("flaky: %s: %s", words.Markdown(f.String(), words.MaxName), words.Markdown(f.Text, words.MaxText/4)))
	}
	for i := range r.Strange {
		items = append(items, "unused: "+words.Markdown(baseline.StrangeText(&r.Strange[i]), words.MaxText/4))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Decision.Fails() {
			continue
		}
		text := fmt.Sprintf("%s: %s %s %s: %s", baseline.DecisionWord[f.Decision], words.Markdown(f.String(), 2*words.MaxName),
			words.Markdown(f.Law, words.MaxName), words.MarkdownCode(f.Kind, words.MaxName), words.Markdown(f.Title, words.MaxText/4))
		if f.Entry != nil && f.Decision == gate.Listed {
			text += fmt.Sprintf(" (%s; until %s)", words.Markdown(f.Entry.Reason, words.MaxText/4), f.Entry.Expires.Format(time.DateOnly))
			if old := baseline.OldName(f); old != "" {
				text += ": " + words.Markdown(old, words.MaxText/4)
			}
		}
		items = append(items, text)
	}
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%s that %s nothing of you</summary>\n\n", text.Count(len(items), "thing"),
		map[bool]string{true: "asks", false: "ask"}[len(items) == 1])
	mdItems(b, items)
	b.WriteString("</details>\n")
}
