package formats

import (
	"bytes"
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

var gateSign = map[gate.Outcome]string{gate.Pass: "✅", gate.Fail: "❌", gate.HostFailed: "❌", gate.Inconclusive: "❔"}

var failingTitle = map[gate.Fate]string{gate.New: "New", gate.Unlisted: "Unlisted"}

// GateMarkdown is what a gate says for the summary of a CI step and for a
// comment: what has to be done first, the rest folded.
func GateMarkdown(b *bytes.Buffer, r *gate.Result, o baseline.GateOptions) {
	fmt.Fprintf(b, "## %s leakbench gate: %s\n\n%s. %s, %s%s.\n\n", gateSign[r.Outcome], r.Outcome, words.Markdown(r.Reason, words.MaxText),
		words.Plural(r.Plays, "scenario"), words.Plural(len(r.Runs), "run"), baseline.RetriedText(r.Retried))
	fresh, more := words.FirstOf(r.Failing(), mdFindings)
	for i := range fresh {
		f := &fresh[i]
		fmt.Fprintf(b, "### %s: %s\n\n", failingTitle[f.Fate], mdPlay(f.Play))
		mdFinding(b, &f.Finding.Finding)
		if text := baseline.SeenText(f); text != "" {
			fmt.Fprintf(b, "Seen %s.\n\n", words.Markdown(text, words.MaxText))
		}
		if f.Run != nil && f.Run.Run != nil && len(f.Run.Run.Header.Command) > 0 {
			fmt.Fprintf(b, "Again: %s<br>Accept it for now: %s\n\n",
				words.MarkdownCode(words.Shell(f.Run.Run.Header.Command), words.MaxText), words.MarkdownCode(words.Shell(baseline.AcceptCommand(f, o)), words.MaxText))
		}
	}
	if more > 0 {
		fmt.Fprintf(b, "and %s more\n\n", words.Plural(more, "finding"))
	}
	mdTodo(b, r, o)
	mdCompared(b, r)
	mdRest(b, r)
}

// mdTodo is what else has to be dealt with.
func mdTodo(b *bytes.Buffer, r *gate.Result, o baseline.GateOptions) {
	var items []string
	bad := r.Bad()
	for i := range bad {
		e := bad[i]
		items = append(items, fmt.Sprintf("**%s** %s line %d: %s %s", baseline.Upper(e.State), words.MarkdownCode(o.Known, words.MaxName), e.Line, words.MarkdownCode(e.Finding(), words.MaxName), words.Markdown(e.Text(), words.MaxText)))
	}
	for _, j := range r.Unsure {
		items = append(items, fmt.Sprintf("❔ %s is inconclusive: %s", mdPlay(compare.PlayOf(j)), words.Markdown(model.FirstDoubt(j), words.MaxText/2)))
	}
	for _, m := range r.Missing {
		items = append(items, "❔ not run: "+words.Markdown(m, words.MaxText/2))
	}
	mdItems(b, items)
}

func mdItems(b *bytes.Buffer, items []string) {
	head, more := words.FirstOf(items, mdRuns)
	for _, it := range head {
		fmt.Fprintf(b, "- %s\n", it)
	}
	if more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
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
		rows = append(rows, []string{n.Play.String() + ": " + n.Name, baseline.RangeText(n.Base), baseline.RangeText(n.Head), baseline.Signed(n.Delta()), ""})
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
		text := "no change shown"
		if c.Tests == 0 {
			text = "not tested: " + baseline.NeedText(c)
		}
		fmt.Fprintf(b, "%s of times and sizes: %s.\n\n", words.Plural(quiet, "measure"), text)
	}
	mdItems(b, escaped(c.Notes))
}

func escaped(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = words.Markdown(s, words.MaxText/2)
	}
	return out
}

func mdRest(b *bytes.Buffer, r *gate.Result) {
	var items []string
	for _, f := range r.Flakes {
		items = append(items, fmt.Sprintf("flaky: %s: %s", words.Markdown(f.Play.String(), words.MaxName), words.Markdown(f.Text, words.MaxText/4)))
	}
	for i := range r.Strange {
		items = append(items, "unused: "+words.Markdown(baseline.StrangeText(&r.Strange[i]), words.MaxText/4))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Fate == gate.New || f.Fate == gate.Unlisted {
			continue
		}
		text := fmt.Sprintf("%s: %s %s %s: %s", baseline.FateWord[f.Fate], words.Markdown(f.Play.String(), 2*words.MaxName),
			words.Markdown(f.Law, words.MaxName), words.MarkdownCode(f.Kind, words.MaxName), words.Markdown(f.Title, words.MaxText/4))
		if f.Entry != nil && f.Fate == gate.Listed {
			text += fmt.Sprintf(" (%s; until %s)", words.Markdown(f.Entry.Reason, words.MaxText/4), f.Entry.Expires.Format(time.DateOnly))
		}
		items = append(items, text)
	}
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%s that %s nothing of you</summary>\n\n", words.Plural(len(items), "thing"),
		map[bool]string{true: "asks", false: "ask"}[len(items) == 1])
	mdItems(b, items)
	b.WriteString("</details>\n")
}
