package report

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// How much a summary shows: GitHub takes 1 MiB of a step, people less.
const (
	mdRuns     = 200
	mdFindings = 30
	mdDoubts   = 20
)

func markdown(b *bytes.Buffer, runs []verdict.Judged) error {
	_, title := headline(runs)
	fmt.Fprintf(b, "## %s leakbench: %s\n\n", mdGlyph[worst(runs)], md(title, maxText))
	mdTable(b, runs)
	left := mdFindings
	for i := range runs {
		left = mdRun(b, &runs[i], left)
	}
	return nil
}

// mdGlyph is also told apart without its colour.
var mdGlyph = map[verdict.Outcome]string{verdict.Clean: "✅", verdict.Leak: "❌", verdict.Inconclusive: "❔"}

func mdTable(b *bytes.Buffer, runs []verdict.Judged) {
	if len(runs) == 0 {
		return
	}
	b.WriteString("| scenario | host | verdict | findings | launched | at most | left | took |\n|---|---|---|--:|--:|--:|--:|--:|\n")
	head, more := firstOf(runs, mdRuns)
	for i := range head {
		j := &head[i]
		v := &j.Verdict
		scenario, host := playOf(j)
		fmt.Fprintf(b, "| %s | %s | %s %s | %d | %d | %d | %d | %s |\n", md(scenario, maxName), md(host, maxName), mdGlyph[v.Outcome], md(string(v.Outcome), maxName),
			len(v.Findings), v.Spawned, v.PeakLive, v.Left, span(lasted(j)))
	}
	if more > 0 {
		fmt.Fprintf(b, "\nand %s more\n", plural(more, "run"))
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
	scenario, host := playOf(j)
	fmt.Fprintf(b, "### %s on %s\n\n", md(scenario, maxName), md(host, maxName))
	head, more := firstOf(gravestFirst(v.Findings), max(left, 0))
	for i := range head {
		mdFinding(b, &head[i])
	}
	if more > 0 {
		fmt.Fprintf(b, "and %s more\n\n", plural(more, "finding"))
	}
	doubts, moreDoubts := firstOf(v.Doubts, mdDoubts)
	for _, d := range doubts {
		fmt.Fprintf(b, "- ❔ %s: %s\n", mdCode(d.Code, maxName), md(d.Text, maxText/2))
	}
	if moreDoubts > 0 {
		fmt.Fprintf(b, "- and %s more\n", plural(moreDoubts, "doubt"))
	}
	if len(doubts) > 0 {
		b.WriteByte('\n')
	}
	if j.Run != nil && len(j.Run.Header.Command) > 0 {
		fmt.Fprintf(b, "Again: %s\n\n", mdCode(shell(j.Run.Header.Command), maxText))
	}
	return left - len(head)
}

func mdFinding(b *bytes.Buffer, f *verdict.Finding) {
	glyph := "❌"
	if !isError(f) {
		glyph = "⚠️"
	}
	fmt.Fprintf(b, "%s **%s** %s ×%d: **%s**\n\n", glyph, md(f.Law, maxName), mdCode(f.Kind, maxName), f.Count, md(f.Title, maxText/2))
	for _, row := range []struct{ name, text string }{{"expected", f.Expected}, {"found", f.Found}} {
		fmt.Fprintf(b, "- %s: %s\n", row.name, md(row.text, maxText/2))
	}
	gs, _ := firstOf(grips(f.Evidence), gripsOf)
	for _, g := range gs {
		fmt.Fprintf(b, "- held by: %s\n", md(gripLine(g), maxText/2))
	}
	b.WriteString("\n<details><summary>why, fix, values</summary>\n\n")
	for _, row := range []struct{ name, text string }{{"Why", f.Why}, {"Fix", f.Fix}} {
		if row.text != "" {
			fmt.Fprintf(b, "**%s.** %s\n\n", row.name, md(row.text, maxText))
		}
	}
	values, more := firstOf(f.Values, 20)
	for _, v := range values {
		fmt.Fprintf(b, "- %s\n", md(v, maxText/4))
	}
	if more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
	fmt.Fprintf(b, "\nFingerprint %s\n\n</details>\n\n", mdCode(f.Fingerprint, maxName))
}

// md is text of others for Markdown, within a line of ours: no character of it
// is markup or makes a link.
func md(s string, limit int) string {
	var b strings.Builder
	text := clean(s, limit)
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		switch {
		case r == '.' && !strings.HasSuffix(strings.ToLower(text[:i]), "www"), r == ':' && (rest == "" || rest[0] == ' '),
			r >= utf8.RuneSelf, r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ,;'\"()/%=+?-", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String()
}

// mdCode is md as code. The element is used and not the backticks, within
// which nothing can be escaped.
func mdCode(s string, limit int) string { return "<code>" + md(s, limit) + "</code>" }
