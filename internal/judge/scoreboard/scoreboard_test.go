package scoreboard_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

func skipped(op record.Op, why string) record.Event {
	return record.Event{Kind: record.StepSkipped, Step: &record.Step{Op: op, Error: why}}
}

// inconclusive is a run of a driver that offers neither tick nor reload, with
// these doubts.
func inconclusive(doubts []string, events ...record.Event) verdict.Judged {
	hello := record.Event{Kind: record.HostReady, Hello: &record.Hello{
		Ops: []string{"open", "call", "close", "stop"}, NotApplicable: map[string]string{"reload": "it has none"},
	}}
	run := &record.Run{Header: record.Header{Host: record.Host{Kind: record.KindDriver}}, Events: append([]record.Event{hello}, events...)}
	j := verdict.Judged{Run: run, History: history.Of(run), Verdict: verdict.Verdict{Outcome: verdict.Inconclusive}}
	for _, code := range doubts {
		j.Verdict.Doubts = append(j.Verdict.Doubts, record.Doubt{Code: record.DoubtCode(code), Text: "the text of " + code})
	}
	return j
}

func TestWhatAHostCannotDoIsNotApplicable(t *testing.T) {
	t.Parallel()
	unasked := skipped("open", "a command opens by itself")
	unasked.Step.Unasked = true
	perRequest := inconclusive([]string{"step-skipped"}, skipped("break", "there is none to break"))
	perRequest.Run.Header.Host = record.Host{Kind: record.KindGateway, Servers: record.PerRequest}
	command := inconclusive([]string{"step-skipped"}, skipped("await", "not known"), unasked)
	command.Run.Header.Host.Kind = record.KindCommand
	shared := inconclusive([]string{"fault-not-fired"})
	shared.Run.Header.Host = record.Host{Kind: record.KindGateway, Servers: record.Shared}
	leaking := inconclusive([]string{"step-skipped"}, skipped("reload", "it has none"))
	leaking.Verdict.Outcome = verdict.Leak
	for name, c := range map[string]struct {
		run    verdict.Judged
		status scoreboard.Status
		reason string
	}{
		"its own word":          {inconclusive([]string{"step-skipped"}, skipped("reload", "it has none"), skipped("reload", "it has none")), scoreboard.NotApplicable, "reload: it has none"},
		"not offered":           {inconclusive([]string{"step-skipped", "fault-not-fired"}, skipped("tick", "not offered")), scoreboard.NotApplicable, "tick: not offered"},
		"its file's word":       {inconclusive([]string{"step-skipped"}, skipped("call", "not in this mode")), scoreboard.NotApplicable, "call: not in this mode"},
		"per request":           {perRequest, scoreboard.NotApplicable, "break: there is none to break"},
		"one for all":           {shared, scoreboard.NotApplicable, "it has one server for all of its clients, and this needs more: the text of fault-not-fired"},
		"a command":             {command, scoreboard.NotApplicable, "await: not known"},
		"no place":              {inconclusive([]string{string(record.DoubtNoPlace)}), scoreboard.NotApplicable, "this machine: the text of no-place"},
		"another doubt as well": {inconclusive([]string{"step-skipped", "witnesses-disagree"}, skipped("reload", "it has none")), scoreboard.Inconclusive, ""},
		"for what went before":  {inconclusive([]string{"step-skipped"}, skipped("reload", "it has none"), skipped("close", "no session is open")), scoreboard.Inconclusive, ""},
		"nothing to break":      {inconclusive([]string{"step-skipped"}, skipped("break", "the host does not launch its server again")), scoreboard.Inconclusive, ""},
		"nothing skipped":       {inconclusive([]string{"fault-not-fired"}), scoreboard.Inconclusive, ""},
		"no run":                {verdict.Judged{Verdict: verdict.Judge(nil)}, scoreboard.Inconclusive, ""},
		"a leak is a leak":      {leaking, scoreboard.Leak, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scoreboard.Of(c.run, map[string]string{"call": "not in this mode"})
			assert.Equal(t, c.status, got.Status)
			assert.Equal(t, c.reason, got.Reason)
			assert.Len(t, got.Doubts, len(c.run.Verdict.Doubts))
		})
	}
}

func TestFindingsAreFiledUnderTheirLaws(t *testing.T) {
	t.Parallel()
	finding := func(law, kind string, s record.Severity) verdict.Finding {
		return verdict.Finding{Law: law, Kind: kind, Severity: s, Count: 2, Title: "title of " + kind, Fingerprint: "f"}
	}
	got := scoreboard.Of(verdict.Judged{Run: &record.Run{}, Verdict: verdict.Verdict{Outcome: verdict.Leak, Findings: []verdict.Finding{
		finding("L1", "superseded", record.SeverityError), finding("L1", "duplicate", record.SeverityError),
		finding("L4", "zombie", record.SeverityError), finding("L9", "signal-first", record.SeverityWarning),
	}}}, nil)
	assert.Equal(t, scoreboard.Leak, got.Status)
	assert.Len(t, got.Errors, 2)
	assert.Equal(t, "L1", got.Errors[0].Law)
	assert.Len(t, got.Errors[0].Findings, 2)
	assert.Equal(t, []scoreboard.Broken{{Law: "L9", Findings: []scoreboard.Finding{{Kind: "signal-first", Count: 2, Title: "title of signal-first", Fingerprint: "f"}}}}, got.Warnings)
}

// TestAHostWithoutALimitOfItsOwn is not called clean for what it was never asked to do; one that gave up once, or leaked, is what it is.
func TestAHostWithoutALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	patient := func(outcome verdict.Outcome, gaveUp bool) verdict.Judged {
		none := skipped("call", "no limit within 75 s")
		none.Step.N, none.Step.Patience = 1, 75
		open := none
		open.Step = &record.Step{N: 2, Op: "open", Patience: 75, Error: "no limit within 75 s"}
		if gaveUp {
			open.Kind = record.StepEnded
		}
		run := &record.Run{Header: record.Header{Limits: record.Limits{Patience: 75}}, Events: []record.Event{open, none}}
		return verdict.Judged{Run: run, History: history.Of(run), Verdict: verdict.Verdict{Outcome: outcome}}
	}
	never := scoreboard.Of(patient(verdict.Clean, false), nil)
	assert.Equal(t, scoreboard.NotApplicable, never.Status)
	assert.Equal(t, "no limit within 75 s", never.Reason)
	assert.Equal(t, scoreboard.Clean, scoreboard.Of(patient(verdict.Clean, true), nil).Status)
	assert.Equal(t, scoreboard.Leak, scoreboard.Of(patient(verdict.Leak, false), nil).Status)
}
