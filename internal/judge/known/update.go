package known

import (
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// Renewed is the list with fresh entries. Those whose day is over and in whose
// place a fresh one comes are taken out.
func (l *List) Renewed(fresh []Entry, now time.Time) (edited List, over []Entry, err error) {
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
	e := l.Entries[0]
	return Entry{Scenario: e.Scenario, Law: e.Law, Fingerprint: e.Fingerprint, Reason: reason, Expires: expires}, nil
}

// Has says that an entry lists all that another one does, and is good.
func (l *List) Has(e *Entry, now time.Time) bool {
	return slices.ContainsFunc(l.Entries, func(other Entry) bool { return !other.Expired(now) && other.includes(*e) })
}

// Unlisted are entries for the errors of runs that the list does not have, each
// for the very cause on the very host. A cause that only some of the runs of
// its play have shown gets sometimes.
func (l *List) Unlisted(runs []verdict.Judged, reason string, expires, now time.Time) []Entry {
	var out []Entry
	for _, play := range compare.Repeats(runs) {
		for i := range play.Findings {
			f := &play.Findings[i]
			if f.Severity == record.SeverityWarning || l.Lists(play.Play, &f.Finding, now) != nil {
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
