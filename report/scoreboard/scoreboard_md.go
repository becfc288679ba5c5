package scoreboard

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/report/words"
)

const scoreLegend = "A cell names the laws that were broken as errors, and in parentheses " +
	"those that were broken as warnings ([laws](../understand/laws.md), or\n" +
	"`leakbench explain L1`). **?** is inconclusive: something could not be decided. " +
	"**n.a.** is not applicable: this host, or this machine,\n" +
	"cannot do what the scenario asks. It never counts as clean. ↻ was inconclusive beside other runs, and the cell shows the run that " +
	"followed\nalone. The reasons are listed below for each host. `leakbench run SCENARIO --host HOST` plays a cell again."

// Markdown writes the scoreboard as a page of Markdown.
func Markdown(b *bytes.Buffer, board *scoreboard.Board, link Link) {
	v := newScoreView(board, link)
	words.Scrub(v)
	fmt.Fprintf(b, "# Scoreboard\n\n<!-- Written by leakbench score. Do not edit. -->\n\n**%s**\n\n",
		words.Markdown(v.Sentence, words.MaxText))
	for _, f := range v.Facts {
		value := words.Markdown(f.Value, words.MaxText)
		if f.Name == "Command" {
			value = words.MarkdownCode(f.Value, words.MaxText)
		}
		fmt.Fprintf(b, "- %s: %s\n", f.Name, value)
	}
	if v.Omitted != "" {
		fmt.Fprintf(b, "- Not played: %s\n", words.Markdown(v.Omitted, words.MaxText))
	}
	fmt.Fprintf(b, "\n%s\n\n", scoreLegend)
	mdScore(b, v)
	for i := range v.Hosts {
		mdScoreHost(b, &v.Hosts[i])
	}
}

// widest is how many hosts one table of a Markdown page has at most: it is read
// where a table that is wider than the text is cut off.
const widest = 8

// mdScore writes the cells, in as many tables of about the same width as it takes.
func mdScore(b *bytes.Buffer, v *scoreView) {
	tables := max(1, (len(v.Hosts)+widest-1)/widest)
	for i := range tables {
		from, to := i*len(v.Hosts)/tables, (i+1)*len(v.Hosts)/tables
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("| |")
		for _, h := range v.Hosts[from:to] {
			fmt.Fprintf(b, " %s |", mdHost(&h))
		}
		b.WriteString("\n|---" + strings.Repeat("|---", to-from) + "|\n")
		for _, row := range v.Rows {
			fmt.Fprintf(b, "| %s |", words.MarkdownCode(row.Scenario, words.MaxName))
			for _, c := range row.Cells[from:to] {
				fmt.Fprintf(b, " %s |", mdScoreCell(c))
			}
			b.WriteByte('\n')
		}
	}
}

func mdHost(h *scoreHost) string {
	return strings.TrimSpace(words.Markdown(h.Name, words.MaxName) + " " + words.Markdown(h.Version, words.MaxName))
}

func mdScoreCell(c scoreCell) string {
	text := words.Markdown(c.Word, words.MaxName)
	switch {
	case c.Text != "":
		text = "**" + words.Markdown(c.Text, words.MaxName) + "**"
	case c.Class == looks[scoreboard.Inconclusive].Class:
		text = "**?**"
	case c.look == looks[scoreboard.NotInstalled]:
		text = "not inst."
	}
	if c.Warns != "" {
		text += " (" + words.Markdown(c.Warns, words.MaxName) + ")"
	}
	if c.Again {
		text += " ↻"
	}
	return mdLink(text, c.Href)
}

// mdLink is text, which is Markdown already, with a link where there is one.
func mdLink(text, href string) string {
	if href == "" {
		return text
	}
	return "[" + text + "](" + href + ")"
}

func mdScoreHost(b *bytes.Buffer, h *scoreHost) {
	fmt.Fprintf(b, "\n## %s\n\n%s: %s\n",
		mdHost(h), sentenceCase(words.Markdown(h.About, words.MaxText)), words.Markdown(h.Counts, words.MaxText))
	if h.Levels != "" {
		fmt.Fprintf(b, "\nLevels: %s\n", words.Markdown(h.Levels, words.MaxText))
	}
	if h.Missing != "" {
		fmt.Fprintf(b, "\nNot installed: %s\n", words.MarkdownCode(h.Install, words.MaxText))
	}
	if len(h.Notes) == 0 {
		return
	}
	// A list as long as the scenarios, under each of many hosts: it is unfolded.
	b.WriteString("\n<details><summary>Cell by cell</summary>\n\n")
	defer b.WriteString("\n</details>\n")
	for _, n := range h.Notes {
		var names []string
		for _, s := range n.Scenarios {
			names = append(names, mdLink(words.MarkdownCode(s.Name, words.MaxName), s.Href))
		}
		again := ""
		if n.Again {
			again = ", played again alone ↻"
		}
		fmt.Fprintf(b, "- %s: %s%s\n", strings.Join(names, ", "), n.Word, again)
		for _, line := range n.Lines {
			fmt.Fprintf(b, "  - %s\n", words.Markdown(line.String(), words.MaxText))
		}
	}
}

func sentenceCase(s string) string {
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return strings.ToUpper(s[:1]) + s[1:]
	}
	return s
}

// Text writes the scoreboard for a terminal: a line for each host, and below it what its cells have to say.
func Text(b *bytes.Buffer, board *scoreboard.Board) {
	v := newScoreView(board, nil)
	words.Scrub(v)
	name, version := 0, 0
	for _, h := range v.Hosts {
		name, version = max(name, utf8.RuneCountInString(h.Name)), max(version, utf8.RuneCountInString(h.Version))
	}
	var lines []string
	for _, h := range v.Hosts {
		levels := ""
		if h.Levels != "" {
			levels = "; " + h.Levels
		}
		lines = append(lines, fmt.Sprintf("%-*s  %-*s  %s%s", name, h.Name, version, h.Version, h.Counts, levels))
		if h.Install != "" {
			lines = append(lines, "  "+h.Install)
		}
		for _, n := range h.Notes {
			lines = append(lines, textNote(n)...)
		}
	}
	for _, line := range append(lines, "", v.Sentence) {
		b.WriteString(words.Defuse(line) + "\n")
	}
}

func textNote(n scoreNote) []string {
	var names []string
	for _, s := range n.Scenarios {
		names = append(names, s.Name)
	}
	again := ""
	if n.Again {
		again = ", played again alone"
	}
	lines := []string{fmt.Sprintf("  %s %s: %s%s", n.Glyph, strings.Join(names, ", "), n.Word, again)}
	for _, line := range n.Lines {
		lines = append(lines, "    "+line.String())
	}
	return lines
}
