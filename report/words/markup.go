package words

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// EscapeObscure writes what encoding/json leaves raw, DEL, C1 and format
// characters, as \u escapes. In valid JSON those occur in strings only.
func EscapeObscure(src []byte) []byte {
	var out bytes.Buffer
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		switch {
		case r == 0x7f || r != utf8.RuneError && obscure(r):
			if r > 0xffff {
				hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
				fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
			} else {
				fmt.Fprintf(&out, `\u%04x`, r)
			}
		default:
			out.Write(src[:n])
		}
		src = src[n:]
	}
	return out.Bytes()
}

// Markdown is text of others for Markdown, within a line of ours: no character of it
// is markup or makes a link.
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

// MarkdownCode is md as code. The element is used and not the backticks, within
// which nothing can be escaped.
func MarkdownCode(s string, limit int) string { return "<code>" + Markdown(s, limit) + "</code>" }

// Defuse keeps a CI runner from obeying a line: GitHub Actions and Azure
// Pipelines take "::name::" at the start of a line (after blanks) and "##["
// anywhere in it as commands.
func Defuse(line string) string {
	line = strings.ReplaceAll(line, "##", `#\#`)
	if strings.HasPrefix(line, "::") {
		line = `\` + line
	}
	return line
}
