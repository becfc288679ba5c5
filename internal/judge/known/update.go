package known

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// Renewed is the list with fresh entries. Those whose day is over and in whose
// place a fresh one comes are taken out.
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

// Named is the entry for a finding that is named in full, scenario:law:fingerprint,
// on any host.
func Named(finding, reason string, expires time.Time) (Entry, error) {
	text := fmt.Sprintf("known:\n  - {finding: %q, reason: r, expires: 2999-12-31}\n", finding)
	l, err := Parse("--only", []byte(text))
	if err != nil || l.Entries[0].Fingerprint == "" {
		return Entry{}, fmt.Errorf("%q names no finding in full: scenario:law:fingerprint", finding)
	}
	e := l.Entries[0].bare()
	e.Reason, e.Expires = reason, expires
	return e, nil
}

// Unlisted are entries for the errors of runs that the list does not have, each
// for the very cause on the very host. A cause that only some of the runs of
// its play have shown gets sometimes.
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

// Fresh are the entries to add for what runs have found: all of it, or only that
// finding, scenario[:law[:fingerprint]]. A finding that is named in full needs no
// run here, where none is named: it is that of another machine, whose report says
// how to accept it.
func (l *List) Fresh(runs []verdict.Judged, e Entry, only string, anywhere bool, now time.Time) (fresh []Entry, named bool) {
	unlisted := func(l *List) []Entry {
		return slices.DeleteFunc(l.Unlisted(runs, e.Reason, e.Expires, now), func(e Entry) bool {
			return only != "" && e.Finding() != only && !strings.HasPrefix(e.Finding(), only+":")
		})
	}
	fresh = unlisted(l)
	if len(fresh) > 0 || only == "" || !anywhere || len(unlisted(&List{})) > 0 {
		return fresh, false
	}
	entry, err := Named(only, e.Reason, e.Expires)
	listed := func(other Entry) bool { return !other.Expired(now) && other.includes(entry) }
	if err != nil || slices.ContainsFunc(l.Entries, listed) {
		return nil, err == nil
	}
	return []Entry{entry}, true
}

// LastDay is the last day of an entry by what a person says, 2030-01-31, or the
// usual one where he says nothing.
func LastDay(text string, now time.Time) (time.Time, error) {
	today := now.UTC().Truncate(24 * time.Hour)
	if text == "" {
		return today.AddDate(0, 0, Days), nil
	}
	day, err := time.Parse(time.DateOnly, text)
	switch {
	case err != nil:
		return day, fmt.Errorf("%q is no day", text)
	case day.Before(today):
		return day, fmt.Errorf("%s is over already", text)
	}
	return day, nil
}

// Pruned is the list without the entries that runs have not found any more. A
// day that is over makes no entry stale.
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

// Save writes the list, as a whole.
func (l *List) Save() error {
	if err := os.MkdirAll(filepath.Dir(l.File), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(l.File+".new", []byte(l.Source), 0o644); err != nil {
		return err
	}
	return os.Rename(l.File+".new", l.File)
}
