// Package text has the small operations on strings that all rooms share: making text that somebody else wrote fit for
// a terminal, and finding the name that somebody probably meant.
package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Sanitize puts instead in the place of each character that does not print: control characters, which steer a
// terminal, and those that turn the direction of text. The characters of keep stay.
func Sanitize(s string, instead rune, keep string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || strings.ContainsRune(keep, c) {
			return c
		}
		return instead
	}, s)
}

// Printable is Sanitize for one line of text.
func Printable[S ~string](s S) string { return Sanitize(string(s), '?', "") }

// PrintableLines is Sanitize for text whose line breaks and tabs are its own.
func PrintableLines(s string) string { return Sanitize(s, '?', "\n\t") }

// maxName caps a name or a path that another process chose, in bytes.
const maxName = 1024

// Name is Sanitize for the name or path of a process: it is cut off where it is long, and what does not print is shown as U+FFFD.
func Name(s string) string {
	return Sanitize(ClipBytes(s, maxName, "..."), unicode.ReplacementChar, "")
}

// Clip cuts s after most characters, with tail in the place of the rest.
func Clip[S ~string](s S, most int, tail S) S {
	if len(s) <= most {
		return s
	}
	for at := range s {
		if most--; most < 0 {
			return s[:at] + tail
		}
	}
	return s
}

// ClipBytes is Clip by bytes: it cuts at the start of a character.
func ClipBytes[S ~string](s S, most int, tail S) S {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + tail
}

// Count is a number with its noun: "1 server", "3 servers", "2 processes", "4 children".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "child"):
		noun += "ren"
	case strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Choose picks the word that goes with n.
func Choose(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// units are what stays on the line of its number.
var units = []string{"ns", "µs", "ms", "s", "m", "h", "d", "B", "KiB", "MiB", "GiB", "%"}

// wordsOf are the words of s, and a number with its unit is one.
func wordsOf(s string) (all []string) {
	for _, word := range strings.Fields(s) {
		last := len(all) - 1
		if last >= 0 && slices.Contains(units, strings.TrimRight(word, ".,;:)")) &&
			strings.ContainsAny(all[last][len(all[last])-1:], "0123456789") {
			all[last] += " " + word
			continue
		}
		all = append(all, word)
	}
	return all
}

// Width is how many columns of a terminal s takes: an emoji or a Chinese character takes two.
func Width(s string) int { return uniseg.StringWidth(s) }

// Split cuts s after at most so many columns, and never inside of what is read as one character.
func Split(s string, columns int) (head, rest string) {
	rest = s
	for state := -1; rest != ""; {
		_, after, width, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if width > columns {
			break
		}
		rest, columns, state = after, columns-width, next
	}
	return s[:len(s)-len(rest)], rest
}

// Wrap breaks s into lines of at most width columns, the first of at most first. A word that is longer is broken. No line is narrower
// than four columns, which the widest character takes.
func Wrap(s string, first, width int) []string {
	first, width = max(first, 4), max(width, 4)
	var lines []string
	line := ""
	flush := func() { lines, line, first = append(lines, line), "", width }
	for _, word := range wordsOf(s) {
		if line != "" && Width(line)+1+Width(word) > first {
			flush()
		}
		if line != "" {
			line += " "
		}
		for Width(line)+Width(word) > first {
			line, word = Split(line+word, first)
			flush()
		}
		line += word
	}
	if line != "" || len(lines) == 0 {
		flush()
	}
	return lines
}
