package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// lateBy has a server of a session that was closed go some time after the close;
// the settle time is a second.
func lateBy(p *play, by time.Duration) *record.Run {
	a := p.open("s1", "flaky")
	p.look(record.CensusSample, "")
	p.close("s1", "flaky", func() {})
	gone := func() { p.eof(a); p.bye(a); p.dead(a) }
	if by < 1000*ms {
		p.wait(by)
		gone()
		p.quiet("after", want("flaky", "s1", 0))
	} else {
		p.restless("after", func() { p.wait(by - 1000*ms); gone() }, want("flaky", "s1", 0))
	}
	return p.done()
}

// loaded writes into each census of a run what the bench has had of the
// processors: of each second that it ran, it had waited for some; and the run's
// own processes had some of each second.
func loaded(run *record.Run, waited, own int64) *record.Run {
	run.Header.System.CPUs = 4
	for i := range run.Events {
		if e := &run.Events[i]; e.Kind == record.CensusTaken {
			c := *e.Census
			c.Load = &record.Load{Ran: record.Duration(e.T / 20), Delayed: record.Duration(waited * e.T / 20), Own: record.Duration(own * e.T)}
			e.Census = &c
		}
	}
	return run
}

// What is late by the clock alone is an accusation on a machine that gets round
// to everything, and a doubt on one that does not; never clean.
func TestLateOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by          time.Duration
		waited, own int64
		outcome     Outcome
	}{
		{1500 * ms, 9, 0, Inconclusive},
		{1500 * ms, 0, 0, Leak},
		{1500 * ms, 1, 0, Leak}, // half of the time: not several times slower
		{1500 * ms, 9, 2, Leak}, // its own processes took the processors
		{4500 * ms, 9, 0, Leak}, // no load makes a machine that slow
		{1500 * ms, 19, 0, Inconclusive},
		{1500 * ms, 3, 0, Leak}, // little of the whole time
	} {
		v := Judge(loaded(lateBy(newPlay(), c.by), c.waited, c.own))
		assert.Equal(t, c.outcome, v.Outcome, "%+v %s", c, account(v))
		if c.outcome == Leak {
			assert.Equal(t, []string{"late"}, kindsIn(v))
			continue
		}
		assert.Equal(t, []record.DoubtCode{record.DoubtStarved}, codesIn(v), account(v))
		assert.Contains(t, v.Doubts[0].Text, "L1 (flat) cannot be judged by the clock")
		assert.Contains(t, v.Doubts[0].Text, "% of the time in which it wanted one")
		assert.Equal(t, LawNotJudged, statusOf(v, "L1").Status, "it is not kept either")
	}
	off := loaded(lateBy(newPlay(), 1500*ms), 9, 0)
	off.Header.Limits.Severity = map[string]record.Severity{"L1": record.SeverityOff}
	assert.Equal(t, Clean, Judge(off).Outcome, "this scenario does not ask for it")
}

// So is all else that only the clock says.
func TestTheClockOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, c := range allCases() {
		p := newPlay()
		p.look(record.CensusSample, "")
		v := Judge(loaded(c.show(p), 9, 0))
		switch c.kind {
		case "late-reaped", "slow-close", "slow-stop":
			tried++
			require.NotContains(t, kindsIn(v), c.kind, account(v))
			assert.Contains(t, codesIn(v), record.DoubtStarved, account(v))
			assert.NotEqual(t, Clean, v.Outcome)
		case "late":
		case "abandoned", "superseded", "zombie", "orphan", "hung-close", "killed", "signal-first":
			assert.Contains(t, kindsIn(v), c.kind, "no load excuses it: %s", account(v))
		}
	}
	assert.Equal(t, 3, tried)
}

// What came to rest only in the stretched part of a wait is not called kept.
func TestTheStretchedPartIsNotKept(t *testing.T) {
	t.Parallel()
	v := Judge(stretched(newPlay(), record.Duration(ms)))
	for law, want := range map[string]LawStatus{"L1": LawNotJudged, "L4": LawNotJudged, "L2": LawKept} {
		assert.Equal(t, want, statusOf(v, law).Status, law)
	}
	assert.Contains(t, statusOf(v, "L4").Reason, `checkpoint "after" reached the expected state only because the wait was stretched`)
	p := newPlay()
	p.open("s1", "flaky")
	run := p.done()
	for i := range run.Events {
		if cp := run.Events[i].Checkpoint; cp != nil && cp.HostGone {
			cp.Stretched = record.Duration(ms)
		}
	}
	v = Judge(run)
	assert.Equal(t, LawNotJudged, statusOf(v, "L2").Status)
	assert.Equal(t, Inconclusive, v.Outcome)
}

// waitedIn adds how many thousandths of the time the processes of a run have waited for a processor.
func waitedIn(run *record.Run, thousandths int64) *record.Run {
	for i := range run.Events {
		if c := run.Events[i].Census; c != nil && c.Load != nil {
			waited := record.Duration(run.Events[i].T * thousandths / 1000)
			c.Load.Waited, c.Load.Late = &waited, record.Duration(10*ms)
		}
	}
	return run
}

// Where the file tells how long the processes of the run have waited, that is what excuses them: no more and no less, however
// starved the bench was.
func TestWhatTheRunHasWaited(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by                 time.Duration
		bench, thousandths int64
		own                int64
		outcome            Outcome
	}{
		{1500 * ms, 9, 50, 0, Leak},          // 1.5 s too late, of which 0.2 s are the machine's
		{1500 * ms, 9, 900, 0, Inconclusive}, // it waited long enough
		{1500 * ms, 0, 900, 0, Inconclusive}, // and it does not matter that the bench did not
		{1500 * ms, 9, 900, 2, Leak},         // its own processes took the processors
		{4500 * ms, 19, 300, 0, Leak},
	} {
		v := Judge(waitedIn(loaded(lateBy(newPlay(), c.by), c.bench, c.own), c.thousandths))
		assert.Equal(t, c.outcome, v.Outcome, "%+v %s", c, account(v))
		if c.outcome == Inconclusive && c.thousandths > 0 {
			assert.Contains(t, v.Doubts[0].Text, "the processes of the run had to wait", account(v))
		}
	}
}

// TestFirm: what is over its limit by far more than the processes of the run have waited needs no play alone to be believed.
func TestFirm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		by               time.Duration
		thousandths, own int64
		unknown, firm    bool
	}{
		{by: 1500 * ms, thousandths: 50, firm: true},
		{by: 4500 * ms, thousandths: 500}, // the machine made some of it
		{by: 1500 * ms, own: 2},           // of what its own processes took
		{by: 1500 * ms, unknown: true},
	} {
		run := loaded(lateBy(newPlay(), c.by), 0, c.own)
		if !c.unknown {
			run = waitedIn(run, c.thousandths)
		}
		v := Judge(run)
		require.NotEmpty(t, v.Findings, "%+v %s", c, account(v))
		assert.Equal(t, "late", v.Findings[0].Kind)
		assert.Equal(t, c.firm, v.Findings[0].Firm, "%+v", c)
	}
	for thousandths, firm := range map[int64]bool{0: true, 900: false} {
		v := Judge(waitedIn(loaded(cleanupOf(38*ms, false), 0, 0), thousandths))
		require.Len(t, v.Findings, 1)
		assert.Equal(t, firm, v.Findings[0].Firm, "%d", thousandths)
	}
}

// A server that was killed in its cleanup had at most the time from when the host was first asked to when its death was told:
// no load makes that more. What was longer than its grace by no more than the machine took is a doubt.
func TestCleanupOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after       time.Duration
		again       bool
		thousandths int64
		status      LawStatus
	}{
		{38 * ms, false, 900, LawBroken},
		{38 * ms, false, 0, LawBroken},
		{38 * ms, true, 900, LawNotJudged},
		{250 * ms, false, 900, LawNotJudged},
		{250 * ms, false, 0, LawKept},
	} {
		v := Judge(waitedIn(loaded(cleanupOf(c.after, c.again), 9, 0), c.thousandths))
		assert.Equal(t, c.status, statusOf(v, "L9").Status, "%+v %s", c, account(v))
	}
}

// A server that died without a word after a pause was killed unasked where it was not kept from seeing that it was told.
func TestKilledAfterAPauseOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	for thousandths, status := range map[int64]LawStatus{50: LawBroken, 900: LawNotJudged} {
		p := newPlay()
		p.run.Header.Limits.Grace = record.Duration(200 * ms)
		p.look(record.CensusSample, "")
		a := p.open("s1", "flaky")
		p.look(record.CensusSample, "")
		p.close("s1", "flaky", func() { p.wait(400 * ms); p.dead(a) })
		p.quiet("after", want("flaky", "s1", 0))
		v := Judge(waitedIn(loaded(p.done(), 9, 0), thousandths))
		assert.Equal(t, status, statusOf(v, "L9").Status, account(v))
	}
}

// A host that the bench has killed, since it did not end in time, may have spent that time waiting for a processor.
func TestHungStopOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	for thousandths, kinds := range map[int64][]string{50: {"hung-stop"}, 900: nil} {
		p := newPlay()
		p.look(record.CensusSample, "")
		p.open("s1", "flaky")
		st := p.begin(record.Step{Op: record.OpStop})
		p.wait(10*s + 10*ms)
		p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: true, Code: -1, Signal: "SIGKILL"}})
		p.end(st, "it did not end within 10 s")
		p.bye("flaky#1")
		p.quiet("host gone")
		v := Judge(waitedIn(loaded(p.over(record.End{Reason: record.EndDone}), 9, 0), thousandths))
		assert.ElementsMatch(t, kinds, kindsIn(v), account(v))
		assert.NotEqual(t, Clean, v.Outcome)
	}
}

// cleanupOf is a run in which a server is killed so long after it was told to end.
func cleanupOf(d time.Duration, again bool) *record.Run {
	p := newPlay()
	p.run.Header.Limits.Grace = record.Duration(200 * ms)
	p.look(record.CensusSample, "")
	a := p.open("s1", "flaky")
	if again { // the first time may be when it began
		st := p.begin(record.Step{Op: record.OpClose, Session: "s1", Label: "flaky"})
		p.session("s1", "flaky", record.SessionEnding, record.WhyClose, false)
		p.wait(s)
		p.end(st, "busy")
	}
	p.close("s1", "flaky", func() { p.eof(a); p.wait(d); p.dead(a) })
	p.quiet("after", want("flaky", "s1", 0))
	return p.done()
}

// TestNoTimeToRecover: where a starved machine may have kept every server that the host launched from answering, a session that can't be
// opened is a doubt. Where one has answered, or the host launched none, it is the host's doing.
func TestNoTimeToRecover(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waited time.Duration // of each second
		course func(p *play)
		found  int
	}{
		"starved":            {700 * ms, func(p *play) { p.bye(p.launch("flaky", "s1")) }, 0},
		"with processors":    {10 * ms, func(p *play) { p.bye(p.launch("flaky", "s1")) }, 1},
		"one has answered":   {700 * ms, func(p *play) { a := p.launch("flaky", "s1"); p.greet(a); p.bye(a) }, 1},
		"none was launched":  {700 * ms, func(*play) {}, 1},
		"not starved enough": {300 * ms, func(p *play) { p.bye(p.launch("flaky", "s1")) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			look := func() {
				delayed := record.Duration(int64(p.t/s) * int64(c.waited))
				p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{
					Role: record.CensusSample, Load: &record.Load{Ran: record.Duration(p.t / 5), Delayed: delayed},
				}})
			}
			relaunch(p, 1, func() {})
			look()
			st := p.begin(record.Step{Op: record.OpOpen, Session: "s1", Label: "flaky"})
			p.session("s1", "flaky", record.SessionOpening, "", false)
			c.course(p)
			p.t += 30 * s
			p.session("s1", "flaky", record.SessionEnded, "open-failed", false)
			p.end(st, "no answer")
			look()
			v := Judge(p.done())
			n := 0
			for _, f := range v.Findings {
				if f.Law == "L10" {
					n++
				}
			}
			assert.Equal(t, c.found, n, account(v))
			assert.Equal(t, c.found == 0, slices.Contains(codesIn(v), record.DoubtStarved), account(v))
		})
	}
}

// TestEndedBeforeItWasAsked: what the host ends by itself, as when an attempt to connect runs out of time, it may have given any time. Nobody
// had asked it then.
func TestEndedBeforeItWasAsked(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	f.Header.Limits.Grace = record.Duration(2 * s)
	srv := f.servers[0]
	srv.Signals, srv.EOF, srv.Died, srv.Bye = []history.SignalMark{{T: second, Stdin: record.StdinClosed}}, never, second+second/10, never
	f.Host().AskedAt = 12 * second
	assert.Nil(t, f.rudeness(srv))
	f.Host().AskedAt = second
	assert.NotNil(t, f.rudeness(srv), "it was asked at that moment")
}
