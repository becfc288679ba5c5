// Package text has the small operations on strings that all rooms share: making
// text that somebody else wrote fit for a terminal, and finding the name that
// somebody probably meant.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Sanitize puts instead in the place of each character that does not print:
// control characters, which steer a terminal, and those that turn the direction
// of text. The characters of keep stay.
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

// Quote shows a line that the other side wrote: escaped, and not at length.
func Quote(line []byte) string {
	const most = 200
	if len(line) > most {
		return strconv.Quote(string(line[:most])) + fmt.Sprintf("... (%d bytes)", len(line))
	}
	return strconv.Quote(string(line))
}

// maxName caps a name or a path that another process chose, in bytes.
const maxName = 1024

// Name is Sanitize for the name or path of a process: it is cut off where it is
// long, and what does not print is shown as U+FFFD.
func Name(s string) string {
	return Sanitize(ClipBytes(s, maxName, "..."), unicode.ReplacementChar, "")
}
