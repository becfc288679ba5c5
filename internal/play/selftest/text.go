package selftest

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/text"
)

// Rows are the laws that a case may break, None first.
func Rows() []string { return append([]string{None}, law.IDs()...) }

// String is a result as one line.
func (r Result) String() string {
	mark, expected, found := "✗", "no law broken", "no law broken"
	if r.OK {
		mark = "✓"
	}
	if r.Law != "" {
		expected = r.Law + " " + r.Kind
	}
	if len(r.Laws) > 0 {
		found = strings.Join(r.Laws, " ") + " " + strings.Join(r.Kinds, " ")
	}
	if r.Skipped != "" {
		return fmt.Sprintf("- %-16s %-9s %s; skipped: %s", r.Host, r.Scenario, expected, r.Skipped)
	}
	line := fmt.Sprintf("%s %-16s %-9s %s", mark, r.Host, r.Scenario, expected)
	if r.OK {
		return line
	}
	line += "; found: " + found
	for _, d := range r.Doubts {
		line += "; unclear: " + d.Text
	}
	if r.Error != "" {
		line += "; failed: " + r.Error
	}
	return line
}

// Count is how many results are not as expected, and how many were not played.
func Count(results []Result) (bad, skipped int) {
	for _, r := range results {
		switch {
		case r.Skipped != "":
			skipped++
		case !r.OK:
			bad++
		}
	}
	return bad, skipped
}

// Write writes the matrix of the results and a line that sums them up.
func Write(w io.Writer, results []Result, took time.Duration) error {
	matrix, rows := Matrix(results), Rows()
	columns := append(Rows(), Unclear)
	fmt.Fprintf(w, "\nLaw that is broken (rows) and laws that were found (columns), in runs:\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\t%s\t\n", strings.Join(columns, "\t"))
	for _, row := range rows {
		if matrix[row] == nil {
			continue
		}
		fmt.Fprintf(table, "%s\t", row)
		for _, column := range columns {
			cell := "."
			if n := matrix[row][column]; n > 0 {
				cell = fmt.Sprint(n)
			}
			fmt.Fprintf(table, "%s\t", cell)
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	bad, skipped := Count(results)
	played := len(results) - skipped
	fmt.Fprintf(w, "\n%s in %s, %d as expected, %d not", text.Count(played, "run"), took.Round(time.Second), played-bad, bad)
	if skipped > 0 {
		fmt.Fprintf(w, "; %d skipped, which says nothing for or against", skipped)
	}
	_, err := fmt.Fprintln(w)
	return err
}
