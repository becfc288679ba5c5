// Package baselinetest makes baselines of a few runs and a short list. It is for tests.
package baselinetest

import (
	"strconv"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
)

// Today is the day on which a gate decides.
var Today = time.Date(2030, 6, 15, 12, 0, 0, 0, time.UTC)

// Against is runs beside earlier ones and a list.
func Against(runs, base []verdict.Judged, list string, entries ...known.Entry) baseline.Baseline {
	r := gate.Decide(gate.Params{
		Attempts: gate.Fresh(runs), Base: base, HasBase: len(base) > 0, Known: known.List{File: list, Entries: entries}, Now: Today,
	})
	return baseline.Baseline{Result: &r, Base: base, List: list}
}

// Listed is runs beside a list of scenario:law, good until the next day.
func Listed(runs []verdict.Judged, findings ...string) baseline.Baseline {
	var entries []known.Entry
	for i, f := range findings {
		scenario, law, _ := strings.Cut(f, ":")
		entries = append(entries,
			known.Entry{Scenario: scenario, Law: law, Reason: "it is in the backlog", Expires: Today.AddDate(0, 0, 1), Line: 2 + 3*i})
	}
	return Against(runs, nil, "known.yaml", entries...)
}

// Counts is how many findings of a play are new, known and fixed, in words; nil: of all of them.
func Counts(l *baseline.Lookup, p *compare.Play) string {
	var parts []string
	for _, c := range l.Counts(p) {
		parts = append(parts, strconv.Itoa(c.N)+" "+c.Word)
	}
	return strings.Join(parts, ", ")
}
