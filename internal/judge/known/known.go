// Package known is the list of known findings, .leakbench/known.yaml: those
// that a project lives with for now, each with a reason and the day on which it
// has to be looked at again. The list may not rot: an entry that is not found
// any more is as wrong as a finding that is not listed.
package known

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
)

// File is where the list is kept, from the root of a repository.
const File = ".leakbench/known.yaml"

// Days is how long an entry is good for where nobody says otherwise.
const Days = 90

// Entry is one known finding, or a set of them.
type Entry struct {
	Scenario    string
	Law         string // "" is every law
	Fingerprint string // "" is every finding of the law
	Host        string // "" is every host
	Reason      string
	Expires     time.Time // the last day on which it is good, UTC
	// Sometimes says that it is not found in each run, so that its absence
	// shows nothing: only the date ends it.
	Sometimes bool

	Line, Column int // where it stands in the file
}

// Finding is what the entry is for: scenario[:law[:fingerprint]].
func (e *Entry) Finding() string {
	return strings.TrimRight(strings.Join([]string{e.Scenario, e.Law, e.Fingerprint}, ":"), ":")
}

// covers says that the entry is for a play.
func (e *Entry) covers(p compare.Play) bool {
	return e.Scenario == p.Scenario && (e.Host == "" || e.Host == p.Host)
}

func (e *Entry) matches(p compare.Play, f *verdict.Finding) bool {
	return e.covers(p) && (e.Law == "" || e.Law == f.Law) && (e.Fingerprint == "" || e.Fingerprint == f.Fingerprint)
}

// Expired says that the entry's last day is over.
func (e *Entry) Expired(now time.Time) bool { return !now.UTC().Before(e.Expires.AddDate(0, 0, 1)) }

// List is a file of known findings. The zero value is an empty one.
type List struct {
	File    string
	Entries []Entry
	Source  string
}

// State is what became of an entry.
type State string

// The states. Stale and Expired are errors.
const (
	Found     State = "found"
	Stale     State = "stale"     // its plays were judged without a doubt, and did not show it
	Expired   State = "expired"   // found or not
	Undecided State = "undecided" // not found, but the runs do not tell
	NotRun    State = "not run"   // none of its plays was run
	Absent    State = "not seen"  // not found, and that is what sometimes allows
)

// Checked is an entry, held against runs.
type Checked struct {
	Entry
	State State
	In    int // runs that showed it
}

// Bad says that the entry has to be dealt with.
func (c *Checked) Bad() bool { return c.State == Stale || c.State == Expired }

// Text says what became of the entry, and what to do.
func (c *Checked) Text() string {
	day := c.Expires.Format(time.DateOnly)
	switch c.State {
	case Stale:
		return "listed, but not found any more: take it out of the list"
	case Expired:
		if c.In > 0 {
			return "expired on " + day + ", and still found: fix it, or give it a new date"
		}
		return "expired on " + day + ": fix it and take it out, or give it a new date"
	case Found:
		return fmt.Sprintf("found in %d of the runs, good until %s", c.In, day)
	case Undecided:
		return "not found, but its runs could not be decided"
	case Absent:
		return "not found this time, good until " + day
	}
	return "not run, good until " + day
}

// Check holds each entry against runs: those of an attempt that was made again
// left out.
func (l *List) Check(runs []verdict.Judged, now time.Time) []Checked {
	out := make([]Checked, 0, len(l.Entries))
	for _, e := range l.Entries {
		out = append(out, e.check(runs, now))
	}
	return out
}

func (e *Entry) check(runs []verdict.Judged, now time.Time) Checked {
	c := Checked{Entry: *e, State: NotRun}
	played, decided := 0, 0
	for i := range runs {
		j := &runs[i]
		if !e.covers(compare.PlayOf(j)) {
			continue
		}
		played++
		if compare.Conclusive(j) {
			decided++
		}
		if slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool { return e.matches(compare.PlayOf(j), &f) }) {
			c.In++
		}
	}
	switch {
	case e.Expired(now):
		c.State = Expired
	case c.In > 0:
		c.State = Found
	case played == 0:
	case decided < played:
		c.State = Undecided
	case e.Sometimes:
		c.State = Absent
	default:
		c.State = Stale
	}
	return c
}

// Lists is the entry that pardons a finding, or nil. An expired one pardons
// nothing.
func (l *List) Lists(p compare.Play, f *verdict.Finding, now time.Time) *Entry {
	for i := range l.Entries {
		if e := &l.Entries[i]; e.matches(p, f) && !e.Expired(now) {
			return e
		}
	}
	return nil
}

// Size is how many entries there are, in words.
func (l *List) Size() string {
	return fmt.Sprintf("%d %s", len(l.Entries), text.Choose(len(l.Entries), "entry", "entries"))
}
