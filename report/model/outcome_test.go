package model

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

func came(to ...verdict.Outcome) []verdict.Judged {
	runs := make([]verdict.Judged, len(to))
	for i, o := range to {
		runs[i].Verdict.Outcome = o
	}
	return runs
}

func TestTheWorstOutcomeIsThatOfAllRuns(t *testing.T) {
	t.Parallel()
	assert.Equal(t, verdict.Inconclusive, Worst(nil), "no run is no proof")
	assert.Equal(t, verdict.Clean, Worst(came(verdict.Clean, verdict.Clean)))
	assert.Equal(t, verdict.Inconclusive, Worst(came(verdict.Clean, "odd")))
	assert.Equal(t, verdict.Leak, Worst(came(verdict.Inconclusive, verdict.Leak, verdict.Clean)))
	assert.Equal(t, "2 clean, 1 leak", Tally(came(verdict.Clean, verdict.Leak, verdict.Clean), verdict.Clean, verdict.Inconclusive, verdict.Leak))
}

func TestTheGravestFindingComesFirst(t *testing.T) {
	t.Parallel()
	one := verdict.Finding{Fingerprint: "one", Severity: record.SeverityError, Count: 1}
	most := verdict.Finding{Fingerprint: "most", Severity: record.SeverityError, Count: 3}
	warning := verdict.Finding{Fingerprint: "warning", Severity: record.SeverityWarning, Count: 9}
	assert.Equal(t, []verdict.Finding{most, one, warning}, GravestFirst([]verdict.Finding{one, most, warning}))
	assert.Empty(t, GravestFirst(nil))
}
