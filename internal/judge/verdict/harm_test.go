package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

func TestNoSessionNoCollateral(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.greet(p.launch("flaky", ""))
	v := Judge(p.done())
	assert.Equal(t, LawNotJudged, resultOf(v, "L3").Status)
	assert.Contains(t, resultOf(v, "L3").Reason, "no session")
}

func TestHarmAmongBystanders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		show  func(p *play) *record.Run
		kinds []string
		codes []record.DoubtCode
	}{
		"opened again after the harm": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "flaky")
				p.open("s2", "flaky")
				p.term(a)
				p.dead(a)
				p.open("s1", "flaky")
				return p.done()
			},
			kinds: []string{"terminated"},
		},
		"cut short while open": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "flaky")
				p.session("s1", "flaky", record.SessionOpen, "", true)
				p.term(a)
				p.dead(a)
				return p.done()
			},
		},
		"another session's step fails meanwhile": {
			show: func(p *play) *record.Run {
				p.open("s2", "flaky")
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				st := p.begin(record.Step{Op: "call", Session: "s2", Label: "flaky", Expect: "any"})
				p.term(a)
				p.dead(a)
				p.end(st, "timed out")
				return p.done()
			},
		},
		"its own step had failed before": {
			show: func(p *play) *record.Run {
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky", Expect: "any"}), "no")
				p.term(a)
				p.dead(a)
				p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky", Expect: "any"}), "no")
				return p.done()
			},
		},
		"a session called open on nothing": {
			show: func(p *play) *record.Run {
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				p.term(a)
				p.dead(a)
				p.session("s1", "flaky", record.SessionOpen, "", false)
				p.open("s1", "flaky")
				return p.done()
			},
			kinds: []string{"terminated"},
		},
		"harmed twice, and failing in between": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "flaky")
				p.term(a)
				p.dead(a)
				p.call(a, "s1", "flaky", "transport closed")
				b := p.open("s1", "flaky")
				p.term(b)
				p.dead(b)
				return p.done()
			},
			kinds: []string{"terminated"},
		},
		"the host dies in the course of a checkpoint": {
			show: func(p *play) *record.Run {
				p.latecomers()
				a := p.open("s1", "flaky")
				cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 1)}}
				p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
				p.wait(s)
				p.bye(a)
				p.leave()
				p.look(record.CensusSettled, "after")
				p.wait(s)
				p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
				p.look(record.CensusConfirm, "after")
				p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
				p.quiet("host gone")
				return p.over(record.End{Reason: "done"})
			},
			codes: []record.DoubtCode{record.DoubtHostExited},
		},
		"the newest of a label is missing": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "wide")
				p.close("s1", "wide", func() { p.bye(a) })
				p.restless("after", nil, want("wide", "", 1))
				return p.done()
			},
			kinds: []string{"missing"},
		},
		"the ledger has lost the newest": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "wide")
				p.close("s1", "wide", func() {
					p.eof(a)
					p.add(record.Event{Kind: record.Lost, Server: a, Text: "cut"})
					p.dead(a)
				})
				p.restless("after", nil, want("wide", "", 1))
				return p.done()
			},
			codes: []record.DoubtCode{record.DoubtLedgerLost, record.DoubtNotQuiet},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := bothWays(t, c.show)
			assert.ElementsMatch(t, c.kinds, kindsIn(v), account(v))
			assert.ElementsMatch(t, c.codes, codesIn(v), account(v))
		})
	}
}

func TestOnlyWhatHappenedThenIsToldOfTheHarm(t *testing.T) {
	t.Parallel()
	p := newPlay()
	mine, _ := p.open("s1", "flaky"), p.open("s2", "flaky")
	p.close("s3", "flaky", func() {})
	c := p.open("s3", "flaky")
	p.close("s3", "flaky", func() { p.bye(c) })
	p.wait(s)
	st := p.begin(record.Step{Op: "call", Session: "s2", Label: "flaky", Expect: "any"})
	p.term(mine)
	p.dead(mine)
	p.end(st, "timed out")
	p.wait(s)
	p.bye(p.open("s4", "flaky"))
	p.open("s4", "flaky")
	f := Judge(p.done()).Findings
	require.NotEmpty(t, f)
	why := f[len(f)-1].Why
	assert.Contains(t, why, "flaky#1 (pid 101)")
	assert.NotContains(t, why, "Within", "nobody else was ended at that moment")
	assert.NotContains(t, why, "At that moment", "a call is no clean-up")
	assert.Contains(t, f[len(f)-1].Values[0], "before its first call")
}

func TestStepsAreNamed(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "call of echo of session s1", prose.StepName(&history.Step{Step: record.Step{Op: "call", Detail: "echo", Session: "s1", Label: "x"}}))
	assert.Equal(t, "open of session s1", prose.StepName(&history.Step{Step: record.Step{Op: "open", Detail: "d", Session: "s1"}}))
	assert.Equal(t, "call of session s1", prose.StepName(&history.Step{Step: record.Step{Op: "call", Session: "s1"}}))
	assert.Equal(t, "reload of x", prose.StepName(&history.Step{Step: record.Step{Op: "reload", Label: "x"}}))
	assert.Equal(t, "stop", prose.StepName(&history.Step{Step: record.Step{Op: "stop"}}))
}
