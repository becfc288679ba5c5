package model

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/words"
)

// pasteRows is how many processes a summary for an issue lists.
const pasteRows = 60

// Paste writes a summary of a watch for an issue, as Markdown. No command line, no path and no environment is in it: programs
// stand there by their names.
func Paste(b *bytes.Buffer, j *verdict.Judged) {
	v := j.Verdict.Watched
	md := func(s string) string { return words.Markdown(s, words.MaxText/4) }
	h := &j.Run.Header
	fmt.Fprintf(b, "**leakbench attach**: %s, %s %s, leakbench %s\n\n",
		j.Verdict.Outcome, md(h.System.OS), md(h.System.Kernel), md(h.Tool.Version))
	fmt.Fprintf(b, "Host `%s`: %d processes below it, %s, %d descriptors, watched for %s.\n\n",
		strings.ReplaceAll(words.Clean(v.Host.Comm, words.MaxName), "`", "'"), len(v.Children),
		words.Size(v.Host.RSS), v.Host.FDs, duration.Text(v.To-v.From))
	for i := range j.Verdict.Findings {
		f := &j.Verdict.Findings[i]
		fmt.Fprintf(b, "- **%s %s**: %s (fingerprint %s)\n", f.Law, f.Kind, md(f.Title), f.Fingerprint)
	}
	for _, d := range j.Verdict.Doubts {
		fmt.Fprintf(b, "- not decided: %s\n", md(d.Text))
	}
	for _, lines := range [][]string{WatchedLines(v), GrowthLines(v), UnreadLines(v)} {
		for _, line := range lines {
			fmt.Fprintf(b, "- %s\n", md(line))
		}
	}
	if len(v.Children) == 0 {
		return
	}
	_, table := WatchedTable(v)
	fmt.Fprintf(b, "\n| %s |\n|%s\n", strings.ToLower(strings.Join(table[0], " | ")), strings.Repeat("---|", len(table[0])))
	shown, more := words.FirstOf(table[1:], pasteRows)
	for _, row := range shown {
		for i := range row {
			row[i] = md(row[i])
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
	}
	if more > 0 {
		fmt.Fprintf(b, "\nand %d more\n", more)
	}
}
