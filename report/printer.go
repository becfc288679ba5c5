package report

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// style is how a piece of text looks where colour is wanted.
type style int

const (
	strong style = 1 << iota
	dim
	good
	bad
	warn
)

var sgr = []struct {
	bit  style
	code string
}{{strong, "1"}, {dim, "2"}, {good, "32"}, {bad, "31"}, {warn, "33"}}

const (
	defaultWidth = 100
	minWidth     = 40
)

// printer lays text out. Every word passes through clean: the only escape
// sequences in its output are its own.
type printer struct {
	TextOptions
	out *bytes.Buffer
}

func newPrinter(out *bytes.Buffer, o TextOptions) *printer {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, minWidth)
	return &printer{TextOptions: o, out: out}
}

func (p *printer) blank() { p.out.WriteByte('\n') }

func (p *printer) paint(s string, look style) string {
	if !p.Color || look == 0 || s == "" {
		return s
	}
	var codes []string
	for _, c := range sgr {
		if look&c.bit != 0 {
			codes = append(codes, c.code)
		}
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + s + "\x1b[0m"
}

// item prints a mark, a head and a text that is wrapped under the head.
func (p *printer) item(indent int, mark string, markLook style, head string, headLook style, text string, look style) {
	head = defuse(clean(head, maxName))
	hang := indent + utf8.RuneCountInString(mark)
	first := hang + utf8.RuneCountInString(head)
	p.out.WriteString(strings.Repeat(" ", indent))
	p.out.WriteString(p.paint(mark, markLook))
	p.out.WriteString(p.paint(head, headLook))
	for i, line := range wrap(clean(text, maxText), p.Width-first, p.Width-hang) {
		if i > 0 {
			p.blank()
			p.out.WriteString(strings.Repeat(" ", hang))
		}
		p.out.WriteString(p.paint(line, look))
	}
	p.blank()
}

// field prints "name  value", the value wrapped in its own column. An empty
// value prints nothing.
func (p *printer) field(indent, column int, name, value string) {
	p.styled(indent, column, name, value, 0)
}

func (p *printer) styled(indent, column int, name, value string, look style) {
	if strings.TrimSpace(value) == "" {
		return
	}
	hang := indent
	if column > 0 {
		hang += column + 1
	}
	for i, line := range wrap(clean(value, 2*maxText), p.Width-hang, p.Width-hang) {
		if i == 0 && column > 0 {
			p.out.WriteString(strings.Repeat(" ", indent))
			p.out.WriteString(p.paint(name+strings.Repeat(" ", max(0, column-len(name)))+" ", dim))
		} else {
			p.out.WriteString(strings.Repeat(" ", hang))
		}
		p.out.WriteString(p.paint(line, look))
		p.blank()
	}
}

// wrap breaks s into lines of at most width characters, the first of at most
// first. A word that is longer is broken.
func wrap(s string, first, width int) []string {
	first, width = max(first, 8), max(width, 8)
	var lines []string
	line, n, room := "", 0, first
	flush := func() {
		lines = append(lines, defuse(line))
		line, n, room = "", 0, width
	}
	for _, word := range strings.Fields(s) {
		long := utf8.RuneCountInString(word)
		if n > 0 && n+1+long > room {
			flush()
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		for long > room-n {
			runes := []rune(word)
			line += string(runes[:room-n])
			word, long = string(runes[room-n:]), long-(room-n)
			flush()
		}
		line, n = line+word, n+long
	}
	if n > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// defuse keeps a CI runner from obeying a line: GitHub Actions and Azure
// Pipelines take "::name::" at the start of a line (after blanks) and "##["
// anywhere in it as commands.
func defuse(line string) string {
	line = strings.ReplaceAll(line, "##", `#\#`)
	if strings.HasPrefix(line, "::") {
		line = `\` + line
	}
	return line
}
