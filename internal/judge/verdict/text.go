package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

func count(n int, noun string) string { return text.Count(n, noun) }

func verb(n int, one, many string) string { return text.Choose(n, one, many) }

// span is a length of time, in nanoseconds, with three digits.
func span(ns int64) string {
	d := time.Duration(max(ns, 0))
	step := time.Nanosecond
	for d/step >= 1000 {
		step *= 10
	}
	return d.Round(step).String()
}

// within is a limit as text.
func within(d record.Duration) string { return span(int64(d)) }

// clock is a moment of the run: "+1.23s".
func clock(t int64) string { return "+" + span(t) }

// maxPlain caps a name that another process chose.
const maxPlain = 64

// plain makes a name that another process chose fit for a sentence.
func plain[S ~string](word S) string {
	s := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(word))
	if runes := []rune(s); len(runes) > maxPlain {
		s = string(runes[:maxPlain]) + "…"
	}
	return s
}

// quote is what another process said, as evidence.
func quote(s string) string {
	const most = 200
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}

// list joins words: "a, b and c"; of many it names the first few.
func list(words []string) string {
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

// capital makes a sentence begin as one.
func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// sentence joins clauses to one sentence.
func sentence(clauses ...string) string {
	var kept []string
	for _, c := range clauses {
		if c != "" {
			kept = append(kept, c)
		}
	}
	text := strings.Join(kept, "; ")
	if text == "" {
		return ""
	}
	return text + "."
}

// paragraph joins sentences.
func paragraph(sentences ...string) string {
	var kept []string
	for _, s := range sentences {
		if s != "" {
			kept = append(kept, s)
		}
	}
	return strings.Join(kept, " ")
}
