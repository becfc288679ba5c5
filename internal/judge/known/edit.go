package known

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

const preamble = `# Findings that are known and accepted for now (docs/use/gate.md). Each is
# scenario[:law[:fingerprint]], with a reason and the last day it is good for.
# The gate fails on an entry that is stale (no longer found) or expired.
known:
`

// modeline is what an editor with a YAML language server knows the format by.
const modeline = "# yaml-language-server: $schema=" + schemaURL + "\n"

// begins is the index of an entry's first line: a comment right above it belongs to it.
func (e *Entry) begins(lines []string) int {
	at := e.Line - 1
	for at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "#") {
		at--
	}
	return at
}

// after is the index of the line after those of the i-th entry: where the next one begins, or where nothing but empty lines is left
// and comments that do not stand inside the entry.
func (l *List) after(i int, lines []string) int {
	if i+1 < len(l.Entries) {
		return l.Entries[i+1].begins(lines)
	}
	dash, end := strings.Index(lines[l.Entries[i].Line-1], "-"), len(lines)
	for end > l.Entries[i].Line {
		text := strings.TrimLeft(lines[end-1], " ")
		inside := len(lines[end-1])-len(text) > dash
		if strings.TrimSpace(text) != "" && (inside || !strings.HasPrefix(text, "#")) {
			break
		}
		end--
	}
	return end
}

// Without is the list with some entries taken out; everything else in the file stays as it is. A file that is written
// in a way that this would break is an error, which names what to take out by hand.
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
	text := strings.TrimRight(strings.Join(append(kept, lines[at:]...), "\n"), "\n") + "\n"
	if len(want) == 0 {
		text = strings.Replace(text, "known:\n", "known: []\n", 1)
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
		return List{}, fmt.Errorf("%s does not have one entry per line, so %s", l.File, byHand)
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

// Renewed is the list with fresh entries. Those whose day is over and in whose place a fresh one comes are taken out.
func (l *List) Renewed(fresh []Entry, now time.Time) (edited List, over []Entry, err error) {
	if len(fresh) == 0 {
		return *l, nil, nil
	}
	kept, err := l.Without(func(e *Entry) bool {
		if !e.Expired(now) || !slices.ContainsFunc(fresh, e.includes) {
			return false
		}
		over = append(over, *e)
		return true
	})
	if err != nil {
		return List{}, nil, err
	}
	edited, err = kept.With(fresh...)
	return edited, over, err
}

// includes says that whatever f lists, e lists too.
func (e *Entry) includes(f Entry) bool {
	within := func(wide, narrow string) bool { return wide == "" || wide == narrow }
	return e.Scenario == f.Scenario && within(e.Law, f.Law) && within(e.Fingerprint, f.Fingerprint) && within(e.Host, f.Host)
}

// Reprinted is the list with the fingerprints that the findings of runs have now, where an entry names one that an earlier version
// gave. Where several findings have come from one, the entry is for the first of them, and each of the others gets one like it.
// only is as in Fresh.
func (l *List) Reprinted(runs []verdict.Judged, only string, now time.Time) (edited List, done []Reprint, err error) {
	edited = *l
	var more []Entry
	for i := range l.Entries {
		e := l.Entries[i]
		var fresh []Entry
		for _, print := range e.newPrints(runs) {
			n := e.bare()
			n.Fingerprint = print
			wanted := only == "" || n.Finding() == only || e.Finding() == only || strings.HasPrefix(n.Finding(), only+":")
			listed := func(o Entry) bool { return !o.Expired(now) && o.includes(n) }
			if wanted && !e.Expired(now) && !slices.ContainsFunc(slices.Concat(l.Entries, more), listed) {
				fresh = append(fresh, n)
				done = append(done, Reprint{Old: e, New: n})
			}
		}
		if len(fresh) > 0 && !e.shown(runs) {
			if edited, err = edited.renamed(i, fresh[0]); err != nil {
				return List{}, nil, err
			}
			fresh = fresh[1:]
		}
		more = append(more, fresh...)
	}
	edited, err = edited.With(more...)
	return edited, done, err
}

// Reprint is an entry with the fingerprint that its finding has now.
type Reprint struct{ Old, New Entry }

// shown says that runs have a finding with the entry's very fingerprint.
func (e *Entry) shown(runs []verdict.Judged) bool {
	return slices.ContainsFunc(runs, func(j verdict.Judged) bool {
		return e.covers(compare.PlayOf(&j)) && slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool {
			return f.Law == e.Law && f.Fingerprint == e.Fingerprint
		})
	})
}

// newPrints are the fingerprints of the findings of runs that once had that of the entry.
func (e *Entry) newPrints(runs []verdict.Judged) (all []string) {
	for i := range runs {
		play := compare.PlayOf(&runs[i])
		for _, f := range runs[i].Verdict.Findings {
			if e.Outdated(&f) && e.matches(play, &f) && !slices.Contains(all, f.Fingerprint) {
				all = append(all, f.Fingerprint)
			}
		}
	}
	return all
}

// renamed is the list with another finding in the place of that of the i-th entry. Nothing else in the file changes.
func (l *List) renamed(i int, to Entry) (List, error) {
	lines, e := strings.Split(l.Source, "\n"), &l.Entries[i]
	for at := e.Line - 1; at < max(e.Line, l.after(i, lines)); at++ {
		if strings.Contains(lines[at], e.Finding()) && !strings.HasPrefix(strings.TrimSpace(lines[at]), "#") {
			lines[at] = strings.Replace(lines[at], e.Finding(), to.Finding(), 1)
			break
		}
	}
	want := slices.Clone(l.Entries)
	want[i] = to
	return l.edited(strings.Join(lines, "\n"), want, fmt.Sprintf("rewrite by hand: line %d: %s is %s now", e.Line, e.Finding(), to.Finding()))
}

// Named is the entry for a finding that is named in full, scenario:law:fingerprint, on any host.
func Named(finding, reason string, expires time.Time) (Entry, error) {
	text := fmt.Sprintf("known:\n  - {finding: %q, reason: r, expires: 2999-12-31}\n", finding)
	l, err := Parse("--only", []byte(text))
	if err != nil || l.Entries[0].Fingerprint == "" {
		return Entry{}, fmt.Errorf("%q is not a complete finding: scenario:law:fingerprint", finding)
	}
	e := l.Entries[0].bare()
	e.Reason, e.Expires = reason, expires
	return e, nil
}

// Unlisted are entries for the errors of runs that the list does not have, each for the very cause on the very host.
// A cause that only some of the runs of its play have shown gets sometimes.
func (l *List) Unlisted(runs []verdict.Judged, reason string, expires, now time.Time) []Entry {
	var out []Entry
	for _, play := range compare.Repeats(runs) {
		for i := range play.Findings {
			f := &play.Findings[i]
			if !f.IsError() || l.Lists(play.Play, &f.Finding, now) != nil {
				continue
			}
			out = append(out, Entry{
				Scenario: play.Scenario, Law: f.Law, Fingerprint: f.Fingerprint, Host: play.Host,
				Reason: reason, Expires: expires, Sometimes: f.Rate.In < f.Rate.Of,
			})
		}
	}
	return out
}

// Fresh are the entries to add for what runs have found: all of it, or only that finding,
// scenario[:law[:fingerprint]]. A finding that is named in full needs no run here, where none is named: it is that of
// another machine, whose report says how to accept it.
func (l *List) Fresh(runs []verdict.Judged, e Entry, only string, anywhere bool, now time.Time) (fresh []Entry, named bool) {
	unlisted := func(l *List) []Entry {
		return slices.DeleteFunc(l.Unlisted(runs, e.Reason, e.Expires, now), func(e Entry) bool {
			return only != "" && e.Finding() != only && !strings.HasPrefix(e.Finding(), only+":")
		})
	}
	fresh = unlisted(l)
	if !anywhere || len(unlisted(&List{})) > 0 {
		return fresh, false
	}
	entry, err := Named(only, e.Reason, e.Expires)
	listed := func(other Entry) bool { return !other.Expired(now) && other.includes(entry) }
	if err != nil || slices.ContainsFunc(l.Entries, listed) {
		return nil, err == nil
	}
	return []Entry{entry}, true
}

// LastDay is the last day of an entry by what a person says, 2030-01-31, or the usual one where he says nothing.
func LastDay(text string, now time.Time) (time.Time, error) {
	today := now.UTC().Truncate(24 * time.Hour)
	if text == "" {
		return today.AddDate(0, 0, Days), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil:
		return day, fmt.Errorf("%q is not a date", text)
	case day.Before(today):
		return day, fmt.Errorf("%s is in the past", text)
	}
	return day, nil
}

// Pruned is the list without the entries that runs have not found any more. A day that is over makes no entry stale.
func (l *List) Pruned(runs []verdict.Judged) (edited List, stale []Checked, err error) {
	stale = slices.DeleteFunc(l.Check(runs, time.Time{}), func(c Checked) bool { return c.State != Stale })
	if len(stale) == 0 {
		return *l, nil, nil
	}
	edited, err = l.Without(func(e *Entry) bool {
		return slices.ContainsFunc(stale, func(c Checked) bool { return c.Line == e.Line })
	})
	return edited, stale, err
}

// Save writes the list, as a whole. If the user named its file, a link is followed.
func (l *List) Save(named bool) error {
	if err := os.MkdirAll(filepath.Dir(l.File), 0o755); err != nil {
		return err
	}
	if named {
		return files.Named(l.File, 0o644, files.Text([]byte(l.Source)))
	}
	return files.Own(l.File, 0o644, files.Text([]byte(l.Source)))
}
