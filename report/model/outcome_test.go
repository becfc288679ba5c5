package model

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
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

// TestReached: a scenario is clean where each of its runs is; one without a level, and one that is not there, count nowhere.
func TestReached(t *testing.T) {
	t.Parallel()
	run := func(scenario, host string, l record.Level, o verdict.Outcome) verdict.Judged {
		h := record.Header{Scenario: record.Scenario{Name: scenario, Level: l}, Host: record.Host{Name: host}}
		return verdict.Judged{Run: &record.Run{Header: h}, Verdict: verdict.Verdict{Outcome: o}}
	}
	runs := []verdict.Judged{
		run("storm", "a", record.Orderly, verdict.Clean), run("cron", "a", record.Orderly, verdict.Clean), run("cron", "a", record.Orderly, verdict.Inconclusive),
		run("storm", "b", record.Orderly, verdict.Leak), run("deaf", "b", record.Stubborn, verdict.Clean), run("mine", "b", "", verdict.Leak),
		{},
	}
	assert.Equal(t, "orderly 1/2", Reached(runs, "a").String())
	assert.Equal(t, "orderly 0/1, stubborn 1/1", Reached(runs, "b").String())
	assert.Equal(t, "orderly 1/3, stubborn 1/1", Reached(runs, "").String())
	assert.Empty(t, Reached(nil, "").String())
}

func TestTheGravestFindingComesFirst(t *testing.T) {
	t.Parallel()
	one := verdict.Finding{Fingerprint: "one", Severity: record.SeverityError, Count: 1}
	most := verdict.Finding{Fingerprint: "most", Severity: record.SeverityError, Count: 3}
	warning := verdict.Finding{Fingerprint: "warning", Severity: record.SeverityWarning, Count: 9}
	assert.Equal(t, []verdict.Finding{most, one, warning}, GravestFirst([]verdict.Finding{one, most, warning}))
	assert.Empty(t, GravestFirst(nil))
}

// TestAFaultIsNoLeak: a server that gives no answer has leaked nothing. One that is left as well has. Of one that was given up nobody knows.
func TestAFaultIsNoLeak(t *testing.T) {
	t.Parallel()
	run := func(o verdict.Outcome, findings ...verdict.Finding) verdict.Judged {
		return verdict.Judged{Verdict: verdict.Verdict{Outcome: o, Findings: findings}}
	}
	of := func(law string) verdict.Finding {
		return verdict.Finding{Law: law, Severity: record.SeverityError, Count: 1}
	}
	early := func(law, kind string) verdict.Finding {
		f := of(law)
		f.Kind = kind
		return f
	}
	warning := of("S2")
	warning.Severity = record.SeverityWarning
	runs := []verdict.Judged{
		run(verdict.Leak, of("S1")), run(verdict.Leak, of("S6"), warning), run(verdict.Leak, of("S1"), of("S2")), run(verdict.Leak, of("S1"), of("S7")), run(verdict.Clean, warning),
		run(verdict.Leak, of("L1")),
		run(verdict.Leak, early("L1", "still-running"), early("L4", "still-zombie"), warning),
		run(verdict.Leak, early("L1", "still-running"), of("L2")),
	}
	words := []string{}
	for i := range runs {
		words = append(words, OutcomeWord(&runs[i].Verdict))
	}
	assert.Equal(t, []string{"fault", "fault", "leak", "leak", "clean", "leak", "still running", "leak"}, words)
	assert.Equal(t, "1 clean, 2 fault, 4 leak, 1 still running", Tally(runs, verdict.Clean, verdict.Leak, verdict.Inconclusive))
}

// TestAdviceOnServersThatWereNotLaunched sends nobody to a configuration that has worked.
func TestAdviceOnServersThatWereNotLaunched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		born          []string
		configuration bool
	}{
		"none":         {nil, true},
		"one of them":  {[]string{"flaky"}, true},
		"each of them": {[]string{"flaky", "steady", "flaky"}, false},
	} {
		s := &Run{Header: &record.Header{Plan: record.Plan{Labels: []record.PlanLabel{{Label: "flaky"}, {Label: "steady"}}}}}
		for _, label := range c.born {
			s.Servers = append(s.Servers, &Server{Server: &history.Server{Label: label}})
		}
		s.Judged = &verdict.Judged{Verdict: verdict.Verdict{Outcome: verdict.Inconclusive, Doubts: []verdict.Doubt{{Code: record.DoubtNotLaunched}}}}
		assert.Equal(t, c.configuration, strings.Contains(s.Advice(), "configuration"), name)
		assert.Equal(t, s.Advice(), s.AdviceOn(record.DoubtNotLaunched), name)
	}
}
