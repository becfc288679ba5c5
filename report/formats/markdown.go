package formats

import (
	"bytes"
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// How much a summary shows: GitHub takes 1 MiB of a step, people less.
const (
	mdRuns     = 200
	mdFindings = 30
	mdDoubts   = 20
)

// Markdown writes a summary of the runs, and the findings of each.
func Markdown(b *bytes.Buffer, runs []verdict.Judged) {
	_, title := model.Headline(runs)
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
	b.WriteString("| scenario | host | verdict | findings | launched | at most | left | took |\n|---|---|---|--:|--:|--:|--:|--:|\n")
	head, more := words.FirstOf(runs, mdRuns)
	for i := range head {
		j := &head[i]
		v := &j.Verdict
		play := compare.PlayOf(j)
		fmt.Fprintf(b, "| %s | %s | %s %s | %d | %d | %d | %d | %s |\n", words.Markdown(play.Scenario, words.MaxName), words.Markdown(play.Host, words.MaxName), mdGlyph[v.Outcome], words.Markdown(string(v.Outcome), words.MaxName),
			len(v.Findings), v.Spawned, v.PeakLive, v.Left, words.Span(model.Lasted(j)))
	}
	if more > 0 {
		fmt.Fprintf(b, "\nand %s more\n", words.Plural(more, "run"))
	}
	b.WriteByte('\n')
}

// mdRun tells of the findings and doubts of a run; left is how many findings
// may still be shown.
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
		fmt.Fprintf(b, "and %s more\n\n", words.Plural(more, "finding"))
	}
	doubts, moreDoubts := words.FirstOf(v.Doubts, mdDoubts)
	for _, d := range doubts {
		fmt.Fprintf(b, "- ❔ %s: %s\n", words.MarkdownCode(string(d.Code), words.MaxName), words.Markdown(d.Text, words.MaxText/2))
	}
	if moreDoubts > 0 {
		fmt.Fprintf(b, "- and %s more\n", words.Plural(moreDoubts, "doubt"))
	}
	if len(doubts) > 0 {
		b.WriteByte('\n')
	}
	if j.Run != nil && len(j.Run.Header.Command) > 0 {
		fmt.Fprintf(b, "Again: %s\n\n", words.MarkdownCode(words.Shell(j.Run.Header.Command), words.MaxText))
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
	for _, row := range []struct{ name, text string }{{"expected", f.Expected}, {"found", f.Found}} {
		fmt.Fprintf(b, "- %s: %s\n", row.name, words.Markdown(row.text, words.MaxText/2))
	}
	gs, _ := words.FirstOf(model.StdinHolds(f.Evidence), model.HoldsOf)
	for _, g := range gs {
		fmt.Fprintf(b, "- held by: %s\n", words.Markdown(model.StdinHoldLine(g), words.MaxText/2))
	}
	b.WriteString("\n<details><summary>why, fix, values</summary>\n\n")
	for _, row := range []struct{ name, text string }{{"Why", f.Why}, {"Fix", f.Fix}} {
		if row.text != "" {
			fmt.Fprintf(b, "**%s.** %s\n\n", row.name, words.Markdown(row.text, words.MaxText))
		}
	}
	values, more := words.FirstOf(f.Values, 20)
	for _, v := range values {
		fmt.Fprintf(b, "- %s\n", words.Markdown(v, words.MaxText/4))
	}
	if more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
	fmt.Fprintf(b, "\nFingerprint %s\n\n</details>\n\n", words.MarkdownCode(f.Fingerprint, words.MaxName))
}

func mdPlay(p compare.Play) string {
	return words.Markdown(p.Scenario, words.MaxName) + " on " + words.Markdown(p.Host, words.MaxName)
}
