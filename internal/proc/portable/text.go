package portable

import (
	"strings"
	"unicode"
)

// maxText caps a name or a path that another process chose, in bytes.
const maxText = 1024

// printable makes such text fit for a terminal. (Package proc has the same: on
// Linux it must not import this package.)
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
