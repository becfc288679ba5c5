package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// Join joins what is not empty.
func Join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// List is never nil, which JSON would write as null.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// digits keeps three significant digits of a number of 0.001 to 999.
func digits(v float64) string {
	switch {
	case v < 9.995:
		return TrimZeros(strconv.FormatFloat(v, 'f', 2, 64))
	case v < 99.95:
		return TrimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// TrimZeros drops zeros behind the decimal point.
func TrimZeros(s string) string { return strings.TrimSuffix(strings.TrimRight(s, "0"), ".") }

// At is a moment of the run: seconds since its start, to the millisecond.
func At(ns int64) string {
	if ns < 0 {
		return ""
	}
	return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) + " s"
}

// Size is a number of bytes in three digits: "6.1 MiB".
func Size(bytes int64) string {
	switch {
	case bytes <= 0:
		return "0"
	case bytes < 1<<20:
		return digits(float64(bytes)/(1<<10)) + " KiB"
	case bytes < 1<<30:
		return digits(float64(bytes)/(1<<20)) + " MiB"
	}
	return digits(float64(bytes)/(1<<30)) + " GiB"
}

// Counted are some numbers of things, those that are not 0: "1 value, 2 servers".
func Counted(things ...Things) string {
	var parts []string
	for _, t := range things {
		if t.N > 0 {
			parts = append(parts, text.Count(t.N, t.Noun))
		}
	}
	return strings.Join(parts, ", ")
}

// Things are a number of them.
type Things struct {
	N    int
	Noun string
}

// Shell is a command line that can be pasted into a shell.
func Shell(args []string) string { return text.Command(args) }

// Some are the first n lines of a list, and in a last one how many are left out.
func Some(list []string, n int) []string {
	head, more := FirstOf(list, n)
	head = slices.Clone(head)
	if more > 0 {
		head = append(head, fmt.Sprintf("and %d more", more))
	}
	return head
}

// FirstOf is the first n of s and how many are left out.
func FirstOf[T any](s []T, n int) (head []T, more int) {
	if len(s) <= n {
		return s, 0
	}
	return s[:n], len(s) - n
}

// IsPlain says that a character has no meaning of its own in any format: an ASCII letter, a digit, or one of ".-_".
func IsPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_'
}
