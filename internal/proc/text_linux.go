package proc

import (
	"strings"
	"unicode"
)

// maxText caps a name or a path that another process chose, in bytes.
const maxText = 1024

// printable makes text that another process chose fit for a terminal: what
// does not print is shown as U+FFFD.
func printable(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "..."
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
