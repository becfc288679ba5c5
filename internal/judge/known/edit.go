package known

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

const preamble = `# Findings that are known and accepted for now (docs/gate.md). Each is
# scenario[:law[:fingerprint]], with a reason and the last day it is good for.
# One that is not found any more, or whose day is over, fails the gate.
known:
`

// modeline is what an editor with a YAML language server knows the format by.
const modeline = "# yaml-language-server: $schema=" + SchemaURL + "\n"

// measure finds the lines of each entry: from its own to the one before what
// belongs to the next. A comment right above an entry belongs to it.
func (l *List) measure() {
	lines := strings.Split(l.Source, "\n")
	comment := func(n int) bool { return n >= 1 && strings.HasPrefix(strings.TrimSpace(lines[n-1]), "#") }
	for i := range l.Entries {
		e := &l.Entries[i]
		e.first = e.Line
		for comment(e.first - 1) {
			e.first--
		}
		e.last = len(lines)
		if i > 0 {
			l.Entries[i-1].last = e.first - 1
		}
	}
	if n := len(l.Entries); n > 0 {
		last := &l.Entries[n-1]
		for last.last > last.Line && strings.TrimSpace(lines[last.last-1]) == "" {
			last.last--
		}
	}
}

// Without is the list with some entries taken out; everything else in the file
// stays as it is. A file that is written in a way that this would break is an
// error, which names what to take out by hand.
func (l *List) Without(gone func(*Entry) bool) (List, error) {
	lines := strings.Split(l.Source, "\n")
	var want []Entry
	var names []string
	drop := map[int]bool{}
	for i := range l.Entries {
		e := &l.Entries[i]
		if !gone(e) {
			want = append(want, *e)
			continue
		}
		names = append(names, fmt.Sprintf("line %d: %s", e.Line, e.Finding()))
		for n := e.first; n <= e.last; n++ {
			drop[n] = true
		}
	}
	if len(names) == 0 {
		return *l, nil
	}
	var kept []string
	for i, line := range lines {
		if !drop[i+1] {
			kept = append(kept, line)
		}
	}
	text := strings.Join(kept, "\n")
	if len(want) == 0 {
		text = strings.Replace(strings.TrimRight(text, "\n")+"\n", "known:\n", "known: []\n", 1)
	}
	edited, err := Parse(l.File, []byte(text))
	if err != nil || !same(edited.Entries, want) {
		return List{}, fmt.Errorf("%s is not written one entry below the other, so take out by hand: %s", l.File, strings.Join(names, "; "))
	}
	return edited, nil
}

// With is the list with entries added at its end.
func (l *List) With(entries ...Entry) (List, error) {
	if len(entries) == 0 {
		return *l, nil
	}
	text := l.Source
	indent := "  "
	switch {
	case len(l.Entries) > 0:
		indent = strings.Repeat(" ", max(0, l.dash()))
	case strings.TrimSpace(uncommented(text)) == "":
		text = modeline + preamble
	default:
		text = strings.Replace(text, "known: []", "known:", 1)
	}
	text = strings.TrimRight(text, "\n") + "\n"
	for i := range entries {
		text += entries[i].yaml(indent)
	}
	edited, err := Parse(l.File, []byte(text))
	if err != nil || !same(edited.Entries, slices.Concat(l.Entries, entries)) {
		var all strings.Builder
		for i := range entries {
			all.WriteString(entries[i].yaml("  "))
		}
		return List{}, fmt.Errorf("%s is not written one entry below the other, so add by hand:\n%s", l.File, all.String())
	}
	return edited, nil
}

// dash is how far the list's dashes are indented.
func (l *List) dash() int {
	lines := strings.Split(l.Source, "\n")
	return strings.Index(lines[l.Entries[0].Line-1], "-")
}

func same(a, b []Entry) bool {
	bare := func(all []Entry) []Entry {
		out := make([]Entry, 0, len(all))
		for _, e := range all {
			e.Line, e.Column, e.first, e.last = 0, 0, 0, 0
			out = append(out, e)
		}
		return out
	}
	return reflect.DeepEqual(bare(a), bare(b))
}

func (e *Entry) yaml(indent string) string {
	text := fmt.Sprintf("%s- finding: %s\n", indent, e.Finding())
	if e.Host != "" {
		text += fmt.Sprintf("%s  host: %s\n", indent, strconv.Quote(e.Host))
	}
	text += fmt.Sprintf("%s  reason: %s\n%s  expires: %s\n", indent, strconv.Quote(e.Reason), indent, e.Expires.Format(time.DateOnly))
	if e.Sometimes {
		text += indent + "  sometimes: true\n"
	}
	return text
}
