package report

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
)

var gateSign = map[gate.Outcome]string{gate.Pass: "✅", gate.Fail: "❌", gate.HostFailed: "❌", gate.Inconclusive: "❔"}

var failingTitle = map[gate.Fate]string{gate.New: "New", gate.Unlisted: "Unlisted"}

// GateMarkdown is what a gate says for the summary of a CI step and for a
// comment: what has to be done first, the rest folded. The error is w's.
func GateMarkdown(w io.Writer, r *gate.Result, o GateOptions) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s leakbench gate: %s\n\n%s. %s, %s%s.\n\n", gateSign[r.Outcome], r.Outcome, md(r.Reason, maxText),
		plural(r.Plays, "scenario"), plural(len(r.Runs), "run"), retriedText(r.Retried))
	fresh, more := firstOf(r.Failing(), mdFindings)
	for i := range fresh {
		f := &fresh[i]
		fmt.Fprintf(&b, "### %s: %s on %s\n\n", failingTitle[f.Fate], md(f.Scenario, maxName), md(f.Host, maxName))
		mdFinding(&b, &f.Finding.Finding)
		if text := seenText(f); text != "" {
			fmt.Fprintf(&b, "Seen %s.\n\n", md(text, maxText))
		}
		if f.Run != nil && f.Run.Run != nil && len(f.Run.Run.Header.Command) > 0 {
			fmt.Fprintf(&b, "Again: %s<br>Accept it for now: %s\n\n", mdCode(shell(f.Run.Run.Header.Command), maxText), mdCode(shell(acceptCommand(f, o)), maxText))
		}
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %s more\n\n", plural(more, "finding"))
	}
	mdTodo(&b, r, o)
	mdCompared(&b, r)
	mdRest(&b, r)
	_, err := w.Write(b.Bytes())
	return err
}

// mdTodo is what else has to be dealt with.
func mdTodo(b *bytes.Buffer, r *gate.Result, o GateOptions) {
	var items []string
	bad := r.Bad()
	for i := range bad {
		e := &bad[i]
		items = append(items, fmt.Sprintf("**%s** %s line %d: %s %s", upper(e.State), mdCode(o.Known, maxName), e.Line, mdCode(e.Finding(), maxName), md(e.Text(), maxText)))
	}
	for _, j := range r.Unsure {
		scenario, host := playOf(j)
		text := "no reason is known"
		if len(j.Verdict.Doubts) > 0 {
			text = j.Verdict.Doubts[0].Text
		}
		items = append(items, fmt.Sprintf("❔ %s on %s is inconclusive: %s", md(scenario, maxName), md(host, maxName), md(text, maxText/2)))
	}
	for _, m := range r.Missing {
		items = append(items, "❔ not run: "+md(m, maxText/2))
	}
	mdItems(b, items)
}

func mdItems(b *bytes.Buffer, items []string) {
	head, more := firstOf(items, mdRuns)
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
		rows = append(rows, []string{playText(n.Play) + ": " + n.Name, rangeText(n.Base), rangeText(n.Head), signed(n.Delta()), ""})
	}
	quiet := 0
	for i := range c.Measures {
		if m := &c.Measures[i]; m.Change == compare.Worse || m.Change == compare.Better {
			rows = append(rows, measureRow(m))
		} else {
			quiet++
		}
	}
	if len(rows) > 0 {
		b.WriteString("| beside the baseline | before | now | change | |\n|---|--:|--:|--:|---|\n")
		head, more := firstOf(rows, mdRuns)
		for _, row := range head {
			for _, cell := range row {
				fmt.Fprintf(b, "| %s ", md(cell, maxText/8))
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
			text = "not tested: " + needText(c)
		}
		fmt.Fprintf(b, "%s of times and sizes: %s.\n\n", plural(quiet, "measure"), text)
	}
	mdItems(b, escaped(c.Notes))
}

func escaped(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = md(s, maxText/2)
	}
	return out
}

func mdRest(b *bytes.Buffer, r *gate.Result) {
	var items []string
	for _, f := range r.Flakes {
		items = append(items, fmt.Sprintf("flaky: %s: %s", md(playText(f.Play), maxName), md(f.Text, maxText/4)))
	}
	for i := range r.Strange {
		items = append(items, "unused: "+md(strangeText(&r.Strange[i]), maxText/4))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Fate == gate.New || f.Fate == gate.Unlisted {
			continue
		}
		text := fmt.Sprintf("%s: %s %s %s: %s", fateWord[f.Fate], md(playText(f.Play), 2*maxName), md(f.Law, maxName), mdCode(f.Kind, maxName), md(f.Title, maxText/4))
		if f.Entry != nil && f.Fate == gate.Listed {
			text += fmt.Sprintf(" (%s; until %s)", md(f.Entry.Reason, maxText/4), f.Entry.Expires.Format(time.DateOnly))
		}
		items = append(items, text)
	}
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "<details><summary>%s that %s nothing of you</summary>\n\n", plural(len(items), "thing"), map[bool]string{true: "asks", false: "ask"}[len(items) == 1])
	mdItems(b, items)
	b.WriteString("</details>\n")
}
