package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Span is a length of time in three digits, written as Go writes it: "4.21s".
func Span(ns int64) string {
	d := time.Duration(ns)
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < time.Microsecond:
		return sign + d.String()
	case d < time.Millisecond:
		return sign + digits(float64(d)/float64(time.Microsecond)) + "µs"
	case d < time.Second:
		return sign + digits(float64(d)/float64(time.Millisecond)) + "ms"
	case d < 100*time.Second:
		return sign + digits(d.Seconds()) + "s"
	case d < time.Hour:
		return fmt.Sprintf("%s%dm%02ds", sign, int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%s%dh%02dm", sign, int(d.Hours()), int(d.Minutes())%60)
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
	return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) + "s"
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

// Shell is a command line that can be pasted into a POSIX shell.
func Shell(args []string) string { return text.Shell(args) }

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
