package known

import (
	"time"

	"github.com/leakbench/leakbench/internal/compare"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/verdict"
)

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
