package redact

import (
	"strings"
)

// quotes is the double quote that is open where a text has been read so far, with its backslashes, or "".
type quotes string

// pass reads on, from one place to another.
func (q *quotes) pass(s string, from, to int) {
	for i := from; i < to; i++ {
		switch s[i] {
		case '\n':
			*q = ""
		case '"':
			slashes := i
			for slashes > 0 && s[slashes-1] == '\\' {
				slashes--
			}
			switch quote := s[slashes : i+1]; {
			case *q == "":
				*q = quotes(quote)
			case closes(quote, string(*q)):
				*q = ""
			}
		}
	}
}

// closes says that a quote with its backslashes ends what an open one began. In a quoted text, each level of quoting has one backslash more
// than twice as many as the one around it.
func closes(quote, open string) bool {
	slashes, depth := len(quote)-1, len(open)-1
	return slashes < depth || slashes%(2*(depth+1)) == depth
}

// closing is the quote that ends a header which begins at start, or "": it ends with its line.
func closing(s string, start int, within quotes) string {
	if start > 0 && s[start-1] == '\'' {
		return "'"
	}
	return string(within)
}

// quoteAt is the quote at i, with the backslashes of one inside a quoted text, or "".
func quoteAt(s string, i int) string {
	end := run(s, i, func(c byte) bool { return c == '\\' })
	if end < len(s) && (s[end] == '"' || s[end] == '\'' || s[end] == '`') {
		return s[i : end+1]
	}
	return ""
}

// endOfQuoted is where a quote ends that is open at from.
func endOfQuoted(s string, from int, quote string) int {
	for i := from; i < len(s); {
		if at := quoteAt(s, i); at != "" && at[len(at)-1] == quote[len(quote)-1] && closes(at, quote) {
			return i + max(0, len(at)-len(quote))
		} else if at != "" {
			i += len(at)
			continue
		}
		i = max(i+1, run(s, i, func(c byte) bool { return c == '\\' }))
	}
	return len(s)
}

// valueAt is the value that starts at from: up to its closing quote or bracket, the end of the word, or the end of the line, where it is
// one of a header or of YAML. Such a line may end before, at a quote that was open before it.
func valueAt(s string, from int, line bool, open string, name int) (int, int) {
	switch {
	case strings.HasPrefix(s[from:], Mark):
		return from, from + len(Mark)
	case line && open == "" && endOfLine(s, from):
		return block(s, from, name)
	case from >= len(s):
		return from, from
	case s[from] == '[' || s[from] == '{':
		return from + 1, endOfBrackets(s, from)
	}
	if quote := quoteAt(s, from); quote != "" && quote != open {
		return from + len(quote), endOfQuoted(s, from+len(quote), quote)
	}
	switch {
	case !line:
		return from, endAt(s, from, " \t\n\"'&;,)}]")
	case open != "":
		return from, min(endAt(s, from, "\n"), endOfQuoted(s, from, open))
	}
	return from, endAt(s, from, "\n")
}

// endOfBrackets is where the brackets close that open at from, or the end: what was cut off is not shown.
func endOfBrackets(s string, from int) int {
	depth := 0
	for i := from; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i
			}
		case '"':
			if quote := quoteAt(s, i); i > 0 && s[i-1] != '\\' {
				i = endOfQuoted(s, i+1, quote)
			}
		}
	}
	return len(s)
}

// indicator is what stands for a value in the lines below (YAML).
var indicator = lazily(`^[|>][-+0-9]*[ \t\r]*(?:#.*)?$`)

// endOfLine says that the value is in the lines below.
func endOfLine(s string, from int) bool {
	rest := s[from:endAt(s, from, "\n")]
	return strings.TrimSpace(rest) == "" || indicator().MatchString(rest)
}

// block is the lines below a name that are indented more than its own, or are a list. A name without "|" must begin its line: otherwise
// it is the end of a sentence.
func block(s string, from, name int) (int, int) {
	first := strings.LastIndexByte(s[:name], '\n') + 1
	end := endAt(s, from, "\n")
	if strings.TrimSpace(s[from:end]) == "" && strings.Trim(s[first:name], " \t-\"'") != "" || end >= len(s) {
		return from, from
	}
	indent := skipSpaces(s, first) - first
	begin, to := end+1, end+1
	for next := begin; next < len(s); {
		over := endAt(s, next, "\n")
		deep := skipSpaces(s, next) - next
		switch blank := strings.TrimSpace(s[next:over]) == ""; {
		case blank:
		case deep > indent, deep == indent && strings.HasPrefix(s[next+deep:], "- "):
			to = over
		default:
			return skipSpaces(s, begin), max(to, skipSpaces(s, begin))
		}
		next = over + 1
	}
	return skipSpaces(s, begin), max(to, skipSpaces(s, begin))
}
