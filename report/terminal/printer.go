// Package terminal renders runs as text for a terminal or a CI log, and lays out the text of other reports.
package terminal

import (
	"bytes"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// Table prints rows in columns, the first of them in bold.
func (p *Printer) Table(rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = words.Clean(row[i], words.MaxText/4)
			widths[i] = max(widths[i], text.Width(row[i]))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString(Pad(cell, widths[i]+2))
		}
		look := Style(0)
		if n == 0 {
			look = Dim
		}
		p.out.WriteString("  " + p.paint(words.Defuse(strings.TrimRight(b.String(), " ")), look))
		p.Blank()
	}
}

// Pad fills up with blanks.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-text.Width(s)))
}

// Style is how a piece of text looks where colour is wanted.
type Style int

// The styles, which add up.
const (
	Strong Style = 1 << iota
	Dim
	Good
	Bad
	Warn
)

var sgr = []struct {
	bit  Style
	code string
}{{Strong, "1"}, {Dim, "2"}, {Good, "32"}, {Bad, "31"}, {Warn, "33"}}

const (
	defaultWidth = 100
	minWidth     = 40
)

// Printer lays text out. Every word passes through clean: the only escape sequences in its output are its own.
type Printer struct {
	Options
	out *bytes.Buffer
}

// NewPrinter prints into memory.
func NewPrinter(out *bytes.Buffer, o Options) *Printer {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, minWidth)
	return &Printer{Options: o, out: out}
}

// Blank ends a line.
func (p *Printer) Blank() { p.out.WriteByte('\n') }

func (p *Printer) paint(s string, look Style) string {
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

// Item prints a mark, a head and a text that is wrapped under the head.
func (p *Printer) Item(indent int, mark string, markLook Style, head string, headLook Style, body string, look Style) {
	head = words.Defuse(words.Clean(head, words.MaxName))
	hang := indent + text.Width(mark)
	first := hang + text.Width(head)
	p.out.WriteString(strings.Repeat(" ", indent))
	p.out.WriteString(p.paint(mark, markLook))
	p.out.WriteString(p.paint(head, headLook))
	for i, line := range words.Wrap(words.Clean(body, words.MaxText), p.Width-first, p.Width-hang) {
		if i > 0 {
			p.Blank()
			p.out.WriteString(strings.Repeat(" ", hang))
		}
		p.out.WriteString(p.paint(line, look))
	}
	p.Blank()
}

// Field prints "name  value", the value wrapped in its own column. An empty value prints nothing.
func (p *Printer) Field(indent, column int, name, value string) {
	p.Styled(indent, column, name, value, 0)
}

// Fields is a field with a value on each line.
func (p *Printer) Fields(indent, column int, name string, values []string) {
	for _, v := range values {
		p.Field(indent, column, name, v)
		name = ""
	}
}

// Styled is Field with a look.
func (p *Printer) Styled(indent, column int, name, value string, look Style) {
	if strings.TrimSpace(value) == "" {
		return
	}
	hang := indent
	if column > 0 {
		hang += column + 1
	}
	for i, line := range words.Wrap(words.Clean(value, 2*words.MaxText), p.Width-hang, p.Width-hang) {
		if i == 0 && column > 0 {
			p.out.WriteString(strings.Repeat(" ", indent))
			p.out.WriteString(p.paint(name+strings.Repeat(" ", max(0, column-len(name)))+" ", Dim))
		} else {
			p.out.WriteString(strings.Repeat(" ", hang))
		}
		p.out.WriteString(p.paint(line, look))
		p.Blank()
	}
}
