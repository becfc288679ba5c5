package known

import (
	"fmt"
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

// begins is the index of an entry's first line: a comment right above it belongs
// to it.
func (e *Entry) begins(lines []string) int {
	at := e.Line - 1
	for at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "#") {
		at--
	}
	return at
}

// after is the index of the line after those of the i-th entry: where the next
// one begins, or where nothing but empty lines is left.
func (l *List) after(i int, lines []string) int {
	if i+1 < len(l.Entries) {
		return l.Entries[i+1].begins(lines)
	}
	end := len(lines)
	for end > l.Entries[i].Line && strings.TrimSpace(lines[end-1]) == "" {
		end--
	}
	return end
}

// Without is the list with some entries taken out; everything else in the file
// stays as it is. A file that is written in a way that this would break is an
// error, which names what to take out by hand.
func (l *List) Without(gone func(*Entry) bool) (List, error) {
	lines, at := strings.Split(l.Source, "\n"), 0
	var kept, names []string
	var want []Entry
	for i := range l.Entries {
		e := &l.Entries[i]
		if !gone(e) {
			want = append(want, *e)
			continue
		}
		names = append(names, fmt.Sprintf("line %d: %s", e.Line, e.Finding()))
		kept = append(kept, lines[at:max(at, e.begins(lines))]...)
		at = max(at, l.after(i, lines))
	}
	if len(names) == 0 {
		return *l, nil
	}
	text := strings.Join(append(kept, lines[at:]...), "\n")
	if len(want) == 0 {
		text = strings.Replace(strings.TrimRight(text, "\n")+"\n", "known:\n", "known: []\n", 1)
	}
	return l.edited(text, want, "take out by hand: "+strings.Join(names, "; "))
}

// With is the list with entries added at its end.
func (l *List) With(entries ...Entry) (List, error) {
	if len(entries) == 0 {
		return *l, nil
	}
	text, indent := l.Source, "  "
	switch {
	case len(l.Entries) > 0: // as far as the list's dashes are
		line := strings.Split(text, "\n")[l.Entries[0].Line-1]
		indent = strings.Repeat(" ", max(0, strings.Index(line, "-")))
	case blank(text):
		text = modeline + preamble
	default:
		text = strings.Replace(text, "known: []", "known:", 1)
	}
	added, byHand := "", ""
	for i := range entries {
		added += entries[i].yaml(indent)
		byHand += entries[i].yaml("  ")
	}
	text = strings.TrimRight(text, "\n") + "\n" + added
	return l.edited(text, slices.Concat(l.Entries, entries), "add by hand:\n"+byHand)
}

// edited is the list with another text, which has to list what is wanted.
func (l *List) edited(text string, want []Entry, byHand string) (List, error) {
	out, err := Parse(l.File, []byte(text))
	if err != nil || !slices.EqualFunc(out.Entries, want, func(a, b Entry) bool { return a.bare() == b.bare() }) {
		return List{}, fmt.Errorf("%s is not written one entry below the other, so %s", l.File, byHand)
	}
	return out, nil
}

// bare is the entry, wherever it stands.
func (e Entry) bare() Entry {
	e.Line, e.Column = 0, 0
	return e
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
