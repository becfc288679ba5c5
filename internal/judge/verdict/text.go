package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/leakbench/leakbench/internal/record"
)

// count is a number with its noun: "1 server", "3 servers", "2 processes".
func count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ss") || strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// verb picks the form of a verb that goes with n.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

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
