// Package words puts what reports say into words: numbers with units, and text of others with everything taken out
// that could steer a terminal, a CI log or a browser.
package words

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/text"
)

// Caps, in characters: what a run may put into a report at most.
const (
	MaxName = 80     // a label, a session, an id
	MaxText = 2000   // a sentence or two
	maxFile = 48_000 // the text of a scenario
)

// maxMarks is how many combining marks one character may carry: a stack of them paints over its neighbours.
const maxMarks = 2

// Clean makes a string harmless to a terminal and to a reader: control characters (ANSI escapes), direction overrides and
// invisible characters are spelt out, a line break becomes a space, and what is longer than limit characters is cut.
func Clean(s string, limit int) string { return neutralise(s, limit, false) }

// CleanLines is clean for text whose line breaks and tabs are its own.
func CleanLines(s string, limit int) string { return neutralise(s, limit, true) }

func neutralise(s string, limit int, lines bool) string {
	if plain(s) && len(s) <= limit {
		return s
	}
	var b strings.Builder
	n, marks := 0, 0
	for i, r := range s {
		if n >= limit {
			b.WriteString("…")
			break
		}
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		piece := spell(r, s[i:], lines)
		b.WriteString(piece)
		n += utf8.RuneCountInString(piece)
	}
	return b.String()
}

// plain is the fast path: printable ASCII needs no work.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func spell(r rune, rest string, lines bool) string {
	switch {
	case r == utf8.RuneError && !strings.HasPrefix(rest, "\uFFFD"):
		return fmt.Sprintf(`\x%02x`, rest[0])
	case r == '\n' || r == '\t':
		if lines {
			return string(r)
		}
		return " "
	case r == '\r' && strings.HasPrefix(rest, "\r\n"):
		return ""
	case r < 0x80 && unicode.IsControl(r):
		return fmt.Sprintf(`\x%02x`, r)
	case obscure(r):
		return strings.Trim(strconv.QuoteRuneToASCII(r), "'")
	}
	return string(r)
}

// obscure says that a character is not seen, or moves others: C1 controls, format characters (direction overrides,
// zero-width ones, tags), separators other than the space, private and unassigned ones.
func obscure(r rune) bool {
	return r >= 0x80 && !unicode.IsGraphic(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
		unicode.Is(unicode.Zs, r) && r != ' '
}

// Scrub cleans every string below v, which must be a pointer to a view of ours. A field may carry `max:"N"` for a cap
// of its own, an embedded struct `max:"Kind=80 Title=200"` for those of its fields, and both `lines:"keep"`. What
// html/template trusts (template.CSS) is ours and stays as it is.
func Scrub(v any) { scrubValue(reflect.ValueOf(v).Elem(), MaxText, "", false) }

func scrubValue(v reflect.Value, limit int, caps string, lines bool) {
	switch v.Kind() {
	case reflect.String:
		if v.Type().PkgPath() != "html/template" && v.CanSet() {
			v.SetString(neutralise(v.String(), limit, lines))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			scrubValue(v.Elem(), limit, "", lines)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scrubValue(v.Index(i), limit, "", lines)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			own, most := limitOf(field, limit, caps)
			scrubValue(v.Field(i), own, most, lines || field.Tag.Get("lines") == "keep")
		}
	}
}

// limitOf is the limit of a field, in a struct that has another one, and what its tag, or that of the struct, says.
func limitOf(field reflect.StructField, limit int, caps string) (own int, most string) {
	most = field.Tag.Get("max")
	if _, after, found := strings.Cut(" "+caps, " "+field.Name+"="); found {
		most, _, _ = strings.Cut(after, " ")
	} else if field.Anonymous && most == "" {
		most = caps
	}
	if n, err := strconv.Atoi(most); err == nil {
		return n, most
	}
	return limit, most
}

// EscapeObscure writes what encoding/json leaves raw, DEL, C1 and format
// characters, as \u escapes. In valid JSON those occur in strings only.
func EscapeObscure(src []byte) []byte {
	var out bytes.Buffer
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		switch {
		case r == 0x7f || r != utf8.RuneError && obscure(r):
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		default:
			out.Write(src[:n])
		}
		src = src[n:]
	}
	return out.Bytes()
}

// Markdown is text of others for Markdown, within a line of ours: no character of it is markup or makes a link.
func Markdown(s string, limit int) string {
	var b strings.Builder
	text := Clean(s, limit)
	for i, r := range text {
		rest := text[i+utf8.RuneLen(r):]
		switch {
		case r == '.' && !strings.HasSuffix(strings.ToLower(text[:i]), "www"), r == ':' && (rest == "" || rest[0] == ' '),
			r >= utf8.RuneSelf, r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" ,;'\"()/%=+?-", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "&#%d;", r)
		}
	}
	return b.String()
}

// MarkdownCode is md as code. The element is used and not the backticks, within which nothing can be escaped.
func MarkdownCode(s string, limit int) string { return "<code>" + Markdown(s, limit) + "</code>" }

// Wrap breaks s into lines of at most width characters, the first of at most first, and defuses them.
func Wrap(s string, first, width int) []string {
	lines := text.Wrap(s, max(first, 8), max(width, 8))
	for i := range lines {
		lines[i] = Defuse(lines[i])
	}
	return lines
}

// Defuse keeps a CI runner from obeying a line: GitHub Actions and Azure Pipelines take "::name::" at the start of a
// line (after blanks) and "##[" anywhere in it as commands.
func Defuse(line string) string {
	line = strings.ReplaceAll(line, "##", `#\#`)
	if strings.HasPrefix(line, "::") {
		line = `\` + line
	}
	return line
}
