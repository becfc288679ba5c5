// Package prose puts what the judge has found into sentences: names and words of other processes made fit for them,
// times and sizes, and what is known of a Process that should be gone. Nothing here is hashed or compared.
package prose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/text"
)

// Span is a length of time, which is never less than 0: two clocks of one moment may differ.
func Span[D ~int64](d D) string { return duration.Text(max(d, 0)) }

// Clock is a moment of the run: "+1.23 s".
func Clock(t int64) string { return "+" + Span(t) }

// maxPlain caps a name that another process chose.
const maxPlain = 64

// Plain makes a name that another process chose fit for a sentence.
func Plain[S ~string](word S) string { return text.Clip(text.Printable(word), maxPlain, "…") }

// Quote is what another process said, as evidence.
func Quote(s string) string { return strconv.Quote(text.Clip(s, 200, "…")) }

// List joins words: "a, b and c"; of many it names the first few.
func List(words []string) string {
	const most = 4
	if n := len(words); n > most {
		words = append(words[:most-1:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

// Capital makes a sentence begin as one.
func Capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Sentence joins clauses to one sentence. Those that are empty are left out.
func Sentence(clauses ...string) string {
	if text := join("; ", clauses); text != "" {
		return text + "."
	}
	return ""
}

// Paragraph joins sentences. Those that are empty are left out.
func Paragraph(sentences ...string) string { return join(" ", sentences) }

func join(by string, parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// Mebibytes is a size.
func Mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
