// Package harmless makes text that somebody else wrote fit for a terminal.
package harmless

import (
	"strings"
	"unicode"
)

// Text puts instead in the place of each character that does not print:
// control characters, which steer a terminal, and those that turn the direction
// of text. The characters of keep stay.
func Text(s string, instead rune, keep string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || strings.ContainsRune(keep, c) {
			return c
		}
		return instead
	}, s)
}

// maxName caps a name or a path that another process chose, in bytes.
const maxName = 1024

// Name is Text for the name or path of a process: it is cut off where it is
// long, and what does not print is shown as U+FFFD.
func Name(s string) string {
	if len(s) > maxName {
		s = s[:maxName] + "..."
	}
	return Text(s, unicode.ReplacementChar, "")
}
