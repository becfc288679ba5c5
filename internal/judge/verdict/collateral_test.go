package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// job is one job of a tick: its session is opening to the job's end.
func job(p *play, cut bool, course func(server string), failed string) *record.Run {
	st := p.begin(record.Step{Op: "job", Session: "tick1.job1", Label: "worker", Detail: "sleep"})
	p.session("tick1.job1", "worker", record.SessionOpening, "tick", cut)
	a := p.launch("worker", "tick1.job1")
	p.greet(a)
	course(a)
	p.session("tick1.job1", "worker", record.SessionEnded, "tick", cut)
	p.end(st, failed)
	return p.done()
}

func TestAJobIsHarmedWhereItCostsItsAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cut    bool
		course func(p *play, a string)
		failed string
		kinds  []string
		codes  []record.DoubtCode
	}{
		"killed in its call": {
			course: func(p *play, a string) { p.ask(a); p.dead(a) }, failed: "transport closed", kinds: []string{"killed"},
		},
		"signalled before its call": {
			course: func(p *play, a string) { p.term(a); p.dead(a) }, failed: "transport closed", kinds: []string{"terminated"},
		},
		"the host gives up before the call": {
			course: func(p *play, a string) { p.bye(a) }, failed: "tools/list timed out", codes: []record.DoubtCode{record.DoubtStepFailed},
		},
		"the host cuts off the call": {
			course: func(p *play, a string) { p.ask(a); p.bye(a) }, failed: "transport closed", kinds: []string{"cut-off"},
		},
		"ended after its answer": {
			course: func(p *play, a string) { p.ask(a); p.answer(a); p.bye(a) },
		},
		"signalled after its answer": {
			course: func(p *play, a string) { p.ask(a); p.answer(a); p.term(a); p.dead(a) },
		},
		"failed with an answer": {
			course: func(p *play, a string) { p.ask(a); p.answer(a); p.term(a); p.dead(a) }, failed: "bad answer", codes: []record.DoubtCode{record.DoubtStepFailed},
		},
		"killed in a call that another server answered": {
			course: func(p *play, a string) { p.ask(a); p.dead(a) }, kinds: []string{"killed"},
		},
		"killed after its answer": {
			course: func(p *play, a string) { p.ask(a); p.answer(a); p.dead(a) },
		},
		"cut short by the scenario": {
			cut: true, course: func(p *play, a string) { p.ask(a); p.term(a); p.dead(a) }, failed: "timed out", codes: []record.DoubtCode{record.DoubtStepFailed},
		},
	} {
		p := newPlay()
		v := Judge(job(p, c.cut, func(a string) { c.course(p, a) }, c.failed))
		assert.ElementsMatch(t, c.kinds, kindsIn(v), "%s\n%s", name, account(v))
		assert.ElementsMatch(t, c.codes, codesIn(v), "%s\n%s", name, account(v))
	}
}

// TestAJobMayBeOverBeforeItsCutOffIsSeen: who ends servers of other sessions by a signal, and stdin of this one at that moment, has
// swept it too, though its server reads the end of stdin a moment after the host has told the end of the job.
func TestAJobMayBeOverBeforeItsCutOffIsSeen(t *testing.T) {
	t.Parallel()
	asked := func(p *play, a string) { p.ask(a) }
	swept := func(p *play, b string) { p.ask(b); p.term(b); p.dead(b) }
	for name, c := range map[string]struct {
		works  func(p *play, a string)
		other  func(p *play, b string)
		failed string
		later  time.Duration
		kinds  []string
	}{
		"swept":               {asked, swept, "transport closed", ms, []string{"cut-off", "terminated"}},
		"much later":          {asked, swept, "transport closed", 200 * ms, []string{"terminated"}},
		"it did not fail":     {asked, swept, "", ms, []string{"terminated"}},
		"answered":            {func(p *play, a string) { p.ask(a); p.answer(a) }, swept, "bad answer", ms, []string{"terminated"}},
		"not called":          {func(*play, string) {}, swept, "gave up", ms, []string{"terminated"}},
		"the other one alone": {asked, func(p *play, b string) { p.ask(b); p.answer(b); p.bye(b) }, "timed out", ms, nil},
	} {
		p := newPlay()
		first := p.begin(record.Step{Op: "job", Session: "tick1.job1", Label: "worker", Detail: "sleep"})
		second := p.begin(record.Step{Op: "job", Session: "tick1.job2", Label: "other", Detail: "sleep"})
		p.session("tick1.job1", "worker", record.SessionOpening, "tick", false)
		p.session("tick1.job2", "other", record.SessionOpening, "tick", false)
		a, b := p.launch("worker", "tick1.job1"), p.launch("other", "tick1.job2")
		p.greet(a)
		p.greet(b)
		c.works(p, a)
		c.other(p, b)
		p.session("tick1.job1", "worker", record.SessionEnded, "tick", false)
		p.end(first, c.failed)
		p.session("tick1.job2", "other", record.SessionEnded, "tick", false)
		p.end(second, map[bool]string{true: "transport closed"}[len(c.kinds) > 0])
		p.wait(c.later)
		p.bye(a)
		v := Judge(p.done())
		assert.ElementsMatch(t, c.kinds, kindsIn(v), "%s\n%s", name, account(v))
		assert.Equal(t, c.failed != "" && !slices.Contains(c.kinds, "cut-off"), slices.Contains(codesIn(v), record.DoubtStepFailed), name)
	}
}

// The end of a job's session is told when its server is gone: that the host killed the server is no less rude. A job that the
// scenario cuts short is asked in its own way.
func TestAJobsServerIsToldToEnd(t *testing.T) {
	t.Parallel()
	for cut, kinds := range map[bool][]string{false: {"killed-unasked"}, true: nil} {
		p := newPlay()
		p.run.Header.Limits.Grace = record.Duration(100 * ms)
		v := Judge(job(p, cut, func(a string) { p.ask(a); p.answer(a); p.wait(10 * ms); p.dead(a) }, ""))
		assert.ElementsMatch(t, kinds, kindsIn(v), account(v))
		for _, found := range v.Findings {
			assert.Contains(t, found.Why, "after its last message, without stdin EOF")
		}
	}
}

// A server that a reconnect has superseded may be ended while its successor
// is being set up.
func TestThePredecessorMayGo(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.ask(a)
	st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	p.term(a)
	p.dead(a)
	p.session("s1", "flaky", record.SessionEnded, "could not be opened", false)
	p.end(st, "no luck")
	assert.Empty(t, Judge(p.done()).Findings)
}

// A reload moves one session after the other. A host that ends everything it
// knows at each of them calls sessions open whose servers are gone.
func TestASessionIsCalledOpenWithoutAServer(t *testing.T) {
	t.Parallel()
	for _, spare := range []bool{false, true} {
		p := newPlay()
		a := p.open("s1", "flaky")
		st := p.begin(record.Step{Op: "reload", Label: "flaky"})
		p.session("s1", "flaky", record.SessionOpening, "reload", false)
		p.bye(a)
		b := p.launch("flaky", "s1")
		p.greet(b)
		if spare { // b was a probe: another serves the session
			p.greet(p.launch("flaky", "s1"))
		}
		p.term(b)
		p.dead(b)
		p.session("s1", "flaky", record.SessionOpen, "reload", false)
		p.end(st, "")
		v := Judge(p.done())
		if spare {
			assert.Empty(t, v.Findings, account(v))
		} else {
			assert.Equal(t, []string{"terminated"}, kindsIn(v), account(v))
			assert.Contains(t, v.Findings[0].Title, "at work")
		}
	}
}

// TestAParentDeathSignal: what it may have ended is told with it, and with advice on threads.
func TestAParentDeathSignal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		number int
		ends   func(p *play, server string)
		told   string
	}{
		"killed by it":        {9, (*play).dead, "It has SIGKILL as its parent death signal"},
		"terminated by it":    {15, func(p *play, a string) { p.term(a); p.dead(a) }, "It has SIGTERM as its parent death signal"},
		"killed by another":   {15, (*play).dead, ""},
		"terminated likewise": {9, func(p *play, a string) { p.term(a); p.dead(a) }, ""},
		"none":                {0, (*play).dead, ""},
		"an unknown one":      {99, func(p *play, a string) { p.term(a); p.dead(a) }, ""},
	} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.call(a, "s1", "flaky", "")
		for _, e := range p.run.Events {
			if e.Kind == record.Born {
				e.Birth.DeathSignal = c.number
			}
		}
		c.ends(p, a)
		p.wait(s)
		p.quiet("after", want("flaky", "s1", 0))
		v := Judge(p.done())
		at := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Law == "L3" })
		if assert.GreaterOrEqual(t, at, 0, "%s: %s", name, account(v)) {
			f := v.Findings[at]
			assert.Equal(t, c.told != "", strings.Contains(f.Why, "parent death signal"), name)
			assert.Contains(t, f.Why, c.told, name)
			assert.Equal(t, c.told != "", strings.HasPrefix(f.Fix, "Launch servers that have a parent death signal"), name)
			assert.Contains(t, f.Fix, "ignal only what you launched", name)
		}
	}
}

// TestAProbeBesideABrokenServer: it was launched while the session's server worked, and ended in order when the bench had just broken
// that one. It was the session's own only if it was called, if nothing was there before it, or if it was ended much later.
func TestAProbeBesideABrokenServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		gap          time.Duration
		called, dead bool // the probe was called; the older one was broken before it came
		harm         bool
	}{
		"a probe":           {ms, false, false, false},
		"it was called":     {ms, true, false, true},
		"much later":        {s, false, false, true},
		"it took its place": {ms, false, true, true},
	} {
		p := newPlay()
		a := p.open("s1", "flaky")
		if c.dead {
			p.fault(a, "order", "exit", true)
		}
		b := p.launch("flaky", "s1")
		p.greet(b)
		if c.called {
			p.call(b, "s1", "flaky", "")
		}
		if !c.dead {
			p.fault(a, "order", "exit", true)
		}
		p.dead(a)
		p.wait(c.gap)
		p.eof(b)
		p.bye(b)
		p.open("s1", "flaky")
		p.quiet("after", want("flaky", "s1", 1))
		v := Judge(p.done())
		assert.Equal(t, c.harm, slices.Contains(kindsIn(v), "cut-off"), "%s: %s", name, account(v))
	}
}

func TestWhatIsNoCollateral(t *testing.T) {
	t.Parallel()
	harm := func(p *play, a string) { p.term(a); p.dead(a) }
	for name, show := range map[string]func(p *play){
		"a session that is being closed": func(p *play) {
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { harm(p, a) })
		},
		"a session that has ended": func(p *play) {
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() {})
			harm(p, a)
		},
		"a server that was never established": func(p *play) {
			p.open("s1", "flaky")
			harm(p, p.launch("flaky", "s1"))
		},
		"a server that the host has replaced by itself": func(p *play) {
			a := p.open("s1", "flaky")
			p.greet(p.launch("flaky", "s1"))
			harm(p, a)
		},
		"a server that was broken": func(p *play) {
			a := p.open("s1", "flaky")
			p.fault(a, "order", "hang", true)
			harm(p, a)
		},
		"a server that the ledger has lost": func(p *play) {
			a := p.open("s1", "flaky")
			p.add(record.Event{Kind: record.Lost, Server: a, Text: "cut"})
			p.dead(a)
		},
		"a server of a session that nobody has asked for": func(p *play) {
			a := p.launch("flaky", "s9")
			p.greet(a)
			harm(p, a)
		},
	} {
		p := newPlay()
		p.open("other", "steady")
		show(p)
		v := Judge(p.done())
		assert.Empty(t, v.Findings, "%s\n%s", name, account(v))
	}
	p := newPlay()
	a := p.open("s1", "flaky")
	p.fault(a, "call", "reject", false)
	harm(p, a)
	assert.Equal(t, []string{"terminated"}, kindsIn(Judge(p.done())), "a fault that breaks nothing is no excuse")
}

// A modern client may call without a handshake.
func TestACallEstablishesASession(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.session("s1", "flaky", record.SessionOpening, "", false)
	a := p.launch("flaky", "s1")
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.ask(a)
	p.answer(a)
	p.term(a)
	p.dead(a)
	assert.Equal(t, []string{"terminated"}, kindsIn(Judge(p.done())))
}

func TestWhatTheHostDoesAtItsOwnEndIsNoCollateral(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.bye(a)
	p.wait(s)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Empty(t, v.Findings, account(v))
	assert.Equal(t, []record.DoubtCode{record.DoubtHostExited}, codesIn(v))

	p = newPlay()
	a = p.open("s1", "flaky")
	p.bye(a)
	p.wait(3 * s)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
	p.quiet("host gone")
	v = Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"cut-off"}, kindsIn(v), "three seconds before its end it was not ending")

	p = newPlay()
	a = p.open("s1", "flaky")
	p.bye(a)
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtKeeperLost, Text: "gone"}})
	v = Judge(p.done())
	assert.Empty(t, v.Findings, "the host dies with its keeper")
}

func TestCollateralOfACommandIsNotJudged(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	p.session("s1", "flaky", record.SessionOpen, "", false)
	a := p.launch("flaky", "s1")
	p.greet(a)
	p.term(a)
	p.dead(a)
	v := Judge(p.done())
	assert.Equal(t, LawNotJudged, resultOf(v, "L3").Status)
	assert.Empty(t, v.Findings)
}

func TestMissingIsNotSaidTwiceNorOfTheBroken(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.fault(a, "order", "exit", true)
	p.dead(a)
	p.restless("after", nil, want("flaky", "s1", 1))
	v := Judge(p.done())
	assert.Empty(t, v.Findings)
	assert.Equal(t, []record.DoubtCode{record.DoubtNotQuiet}, codesIn(v), "nobody opened it again: the scenario's matter")

	p = newPlay() // a want over the label, of which the newest is gone
	a = p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.bye(a) })
	p.restless("after", nil, want("flaky", "", 1))
	v = Judge(p.done())
	assert.Equal(t, []string{"missing"}, kindsIn(v), account(v))

	p = newPlay()
	a = p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.bye(a) })
	p.quiet("after", record.Want{Label: "flaky", Live: 1, AtMost: true})
	assert.Equal(t, Clean, Judge(p.done()).Outcome)
}

func TestTheHarmIsToldWithItsCircumstances(t *testing.T) {
	t.Parallel()
	p := newPlay()
	mine, other := twoSessions(p)
	p.ask(mine)
	p.close("job", "flaky", func() { p.wait(s); p.term(other); p.term(mine); p.dead(other); p.dead(mine) })
	f := only(t, Judge(p.done()), "terminated")
	assert.Contains(t, f.Why, "flaky#1 was ended as well")
	assert.Contains(t, f.Why, "busy with close of session job")
	assert.Contains(t, f.Values[0], "1 call in flight")
	assert.Equal(t, "1 server of steady was signalled to exit while its session was open", f.Title)
}

// A host that renews its servers on its own schedule, the old one first, is told
// what it does; one that is asked to open the session anew is not.
func TestARenewalIsTold(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.call(a, "s1", "flaky", "")
		p.eof(a)
		p.bye(a)
		p.wait(5 * ms)
		var b string
		if asked {
			b = p.open("s1", "flaky")
		} else {
			b = p.launch("flaky", "s1")
			p.greet(b)
		}
		p.quiet("after", want("flaky", "s1", 1))
		f := only(t, Judge(p.done()), "cut-off")
		assert.Equal(t, !asked, strings.Contains(f.Why, "The host launched "+b+" for the session"), f.Why)
	}
}

// TestAServerIsTiedToItsCall: a host that ends the connection with a call that is given up is told so, and another one is not.
func TestAServerIsTiedToItsCall(t *testing.T) {
	t.Parallel()
	const says, fix = "when the call of sleep of session s1 was cancelled or out of time", "end alone"
	for name, c := range map[string]struct {
		step  record.Step
		ask   bool
		lasts time.Duration
		tied  bool
	}{
		"cancelled":         {record.Step{Cancelled: true}, true, ms, true},
		"out of time":       {record.Step{Limit: record.Duration(200 * ms)}, true, 210 * ms, true},
		"in time":           {record.Step{Limit: record.Duration(200 * ms)}, true, 100 * ms, false},
		"not given up":      {record.Step{}, true, ms, false},
		"it never got that": {record.Step{Cancelled: true}, false, ms, false},
	} {
		p := newPlay()
		a := p.open("s1", "flaky")
		c.step.Op, c.step.Session, c.step.Label, c.step.Detail = record.OpCall, "s1", "flaky", "sleep"
		st := p.begin(c.step)
		if c.ask {
			p.ask(a)
		}
		p.wait(c.lasts)
		p.bye(a)
		p.end(st, "given up")
		p.quiet("after")
		v := Judge(p.done())
		assert.Equal(t, []string{"cut-off"}, kindsIn(v), "%s\n%s", name, account(v))
		assert.Equal(t, c.tied, strings.Contains(v.Findings[0].Why, says), "%s: %s", name, v.Findings[0].Why)
		assert.Equal(t, c.tied, strings.Contains(v.Findings[0].Fix, fix), "%s: %s", name, v.Findings[0].Fix)
	}
}
