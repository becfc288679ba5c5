package redact

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed tokens.txt
var tokensFile string

// token is how those of a service begin, and what follows.
type token struct {
	prefix string
	least  int // bytes after the prefix
	in     func(byte) bool
	any    bool // no digit or capital letter is needed
}

var alphabets = map[string]func(byte) bool{
	"hex":     func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' },
	"upper":   func(c byte) bool { return digit(c) || 'A' <= c && c <= 'Z' },
	"letters": alphanumeric,
	"any":     nameByte,
	"base64":  func(c byte) bool { return nameByte(c) || c == '+' || c == '/' || c == '=' },
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func alphanumeric(c byte) bool { return nameByte(c) && c != '_' && c != '-' && c != '.' }

// tokens has the table by the first two bytes of the prefixes. Most processes never read a line that needs it.
var tokens = sync.OnceValue(func() map[string][]token {
	table := map[string][]token{}
	for line := range strings.Lines(tokensFile) {
		cells := strings.Fields(line)
		if len(cells) == 0 || cells[0] == "#" {
			continue
		}
		least, err := strconv.Atoi(cells[1])
		if err != nil {
			panic(fmt.Sprintf("tokens.txt: %q: %v", line, err)) // a test reads it, too
		}
		t := token{prefix: cells[0], least: least, in: nameByte}
		if len(cells) > 2 {
			t.in, t.any = alphabets[cells[2]], cells[2] == "any"
		}
		table[t.prefix[:2]] = append(table[t.prefix[:2]], t)
	}
	return table
})

// tokenIn is the first token in a word of s: it may stand behind an escape, as in "\nghp_...", or behind a separator. It is nowhere if
// from == to.
func tokenIn(s string, start, end int) (from, to int) {
	skipped := start + escaped(s, start)
	for p := start; p < end; p++ {
		if p != start && p != skipped && alphanumeric(s[p-1]) {
			continue
		}
		if to := tokenAt(s, p); to > p {
			return p, max(to, end)
		}
	}
	return end, end
}

// tokenForms say each where the token of a form ends that begins at a place, or that place.
var tokenForms = [...]func(s string, p int) int{listed, telegrams, discords}

// tokenAt is where the token ends that begins at p, or p.
func tokenAt(s string, p int) int {
	for _, end := range tokenForms {
		if to := end(s, p); to > p {
			return to
		}
	}
	return p
}

// listed has the forms of the table.
func listed(s string, p int) int {
	if len(s)-p < 2 {
		return p
	}
	for _, t := range tokens()[s[p:p+2]] {
		if !strings.HasPrefix(s[p:], t.prefix) {
			continue
		}
		tail := p + len(t.prefix)
		if to := run(window(s, tail+t.least), tail, t.in); to-tail >= t.least && (t.any || mixed(s[tail:to])) {
			return run(s, to, t.in)
		}
	}
	return p
}

func telegrams(s string, p int) int {
	digits := run(s, p, digit)
	if n := digits - p; n < 8 || n > 10 || !strings.HasPrefix(s[digits:], ":") {
		return p
	}
	if to := run(s, digits+1, nameByte); to-digits-1 >= 35 {
		return to
	}
	return p
}

// discords has the id of a bot in base64, a time, and a MAC.
func discords(s string, p int) int {
	if p >= len(s) || strings.IndexByte("MNO", s[p]) < 0 {
		return p
	}
	to := run(window(s, p), p, nameByte)
	if strings.IndexByte(s[p:to], '.') < 23 {
		return p
	}
	if parts := strings.Split(s[p:to], "."); len(parts) == 3 && len(parts[1]) >= 6 && len(parts[2]) >= 27 {
		return to
	}
	return p
}

// window is s up to a little behind a place: from each of many places, only so much is read.
func window(s string, from int) string { return s[:min(len(s), from+128)] }

// run is where the bytes of an alphabet end that begin at from.
func run(s string, from int, in func(byte) bool) int {
	for from < len(s) && in(s[from]) {
		from++
	}
	return from
}

// mixed says that a text has a digit or a capital letter.
func mixed(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' })
}

// escaped is how many bytes at the begin of a word belong to what stands before it: "\nname", "%3Dname", "\x1b[31mname".
func escaped(s string, start int) int {
	if start == 0 || start >= len(s) {
		return 0
	}
	switch s[start-1] {
	case '\\':
		if strings.IndexByte("nrtbfv", s[start]) >= 0 {
			return 1
		}
		if s[start] == 'u' && run(s, start+1, alphabets["hex"])-start > 4 { // JSON: "\u0026name"
			return 5
		}
	case '%':
		if run(s, start, alphabets["hex"])-start >= 2 {
			return 2
		}
	case '[', ';':
		if n := run(s, start, digit); n > start && strings.HasPrefix(s[n:], "m") {
			return n + 1 - start
		}
	}
	return 0
}
