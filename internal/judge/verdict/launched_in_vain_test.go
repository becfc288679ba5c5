package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// TestKeptThoughLaunchedInVain: that its session had been closed, forgotten or cut is not why the server is there, and what ended the
// session has not met it.
func TestKeptThoughLaunchedInVain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile record.Profile
		again   bool // the session is opened once more, and uses the server
		late    bool // the server is gone before the watch ends
		kind    string
	}{
		"kept":                {kind: "ghost"},
		"gone late":           {late: true, kind: "ghost"},
		"it may launch ahead": {profile: record.Profile{Spare: 1}, kind: ""},
		"used after all":      {again: true, kind: ""},
	} {
		p := newPlay()
		p.run.Header.System.OS = "linux"
		p.run.Header.Host.Profile = c.profile
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() { p.bye(a) })
		p.wait(40 * ms)
		ghost := p.launch("flaky", "s1")
		p.greet(ghost)
		p.clocked()
		n := 0
		if c.again {
			n = 1
			p.session("s1", "flaky", record.SessionOpening, "", false)
			p.session("s1", "flaky", record.SessionOpen, "", false)
			p.call(ghost, "s1", "flaky", "")
		}
		p.restless("after", func() {
			if c.late {
				p.bye(ghost)
			}
		}, want("flaky", "s1", n))
		v := Judge(p.done())
		if c.kind == "" {
			assert.NotContains(t, kindsIn(v), "ghost", name)
			continue
		}
		require.Equal(t, []string{c.kind}, kindsIn(v), "%s: %s", name, account(v))
		f := v.Findings[0]
		assert.Contains(t, f.Why, "flaky#2 was launched 40", name)
		assert.Contains(t, f.Why, "after session s1 had ended. Nobody had reopened the session.", name)
		assert.NotContains(t, f.Why, "was closed and the host reported success", name)
		assert.Contains(t, f.Fix, "cancel everything that is scheduled for it", name)
	}
}

// TestALaunchUnderWay: a process that was started before its session ended was not launched in vain.
func TestALaunchUnderWay(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.System.OS = "linux"
	p.session("s1", "flaky", record.SessionOpening, "", false)
	p.wait(100 * ms)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.close("s1", "flaky", func() {})
	p.wait(40 * ms)
	p.greet(p.launch("flaky", "s1"))
	p.clocked()
	birth := slices.IndexFunc(p.run.Events, func(e record.Event) bool { return e.Kind == record.Born })
	id := p.ids["flaky#1"]
	row := p.procs[id]
	delete(p.procs, id)
	id.Start -= 10 // it took its certificate 100 ms to come
	row.Identity = id
	p.procs[id], p.ids["flaky#1"] = row, id
	p.run.Events[birth].Birth.Identity = id
	p.restless("after", nil, want("flaky", "s1", 0))
	v := Judge(p.done())
	assert.Equal(t, []string{"abandoned"}, kindsIn(v), account(v))
}

// TestTheFixOfAnOpenThatFailed is to own the process from its launch: no session was ever closed.
func TestTheFixOfAnOpenThatFailed(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.openFails("s1", "flaky", func() { p.greet(p.launch("flaky", "s1")) })
	p.restless("after", nil, want("flaky", "s1", 0))
	v := Judge(p.done())
	require.Equal(t, []string{"abandoned"}, kindsIn(v))
	assert.Equal(t, law.KindOf("init-stranded").Fix, v.Findings[0].Fix)
}

// TestNothingWasThereToBeHarmed: a host that opens a session anew and launches its server at the first call has ended the old one in
// order. Nobody can say what it would have done, so the run is in doubt.
func TestNothingWasThereToBeHarmed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		course func(p *play, a string)
		kind   string
	}{
		"opened anew": {func(p *play, a string) {
			p.session("s1", "flaky", record.SessionOpening, "", false)
			p.bye(a)
			p.session("s1", "flaky", record.SessionOpen, "", false)
		}, ""},
		"opened in a new life": {func(p *play, a string) {
			p.restart("stop", func() { p.bye(a) }, "s1")
			p.session("s1", "flaky", record.SessionOpening, "", false)
			p.session("s1", "flaky", record.SessionOpen, "", false)
		}, ""},
		"the wrong one of two": {func(p *play, _ string) {
			p.session("s1", "flaky", record.SessionOpening, "", false)
			b := p.launch("flaky", "s1")
			p.greet(b)
			p.bye(b)
			p.session("s1", "flaky", record.SessionOpen, "", false)
		}, "L3"},
	} {
		p := newPlay()
		c.course(p, p.open("s1", "flaky"))
		p.restless("after", nil, want("flaky", "s1", 1))
		v := Judge(p.done())
		if c.kind == "" {
			assert.Empty(t, v.Findings, "%s: %s", name, account(v))
			assert.Contains(t, codesIn(v), record.DoubtNotQuiet, name)
			continue
		}
		assert.Equal(t, c.kind, v.Findings[len(v.Findings)-1].Law, "%s: %s", name, account(v))
	}
}

// TestACallThatNeverArrived: a server that no call has reached is not one in which a call ran out of time.
func TestACallThatNeverArrived(t *testing.T) {
	t.Parallel()
	for _, reached := range []bool{true, false} {
		p := newPlay()
		a := p.open("job1", "flaky")
		if reached {
			p.ask(a)
		}
		p.session("job1", "flaky", record.SessionEnded, record.WhyTick, true)
		p.restless("after", nil, want("flaky", "job1", 0))
		v := Judge(p.done())
		require.Equal(t, []string{"abandoned"}, kindsIn(v), account(v))
		assert.Equal(t, reached, strings.Contains(v.Findings[0].Why, "timed out in flaky#1"), v.Findings[0].Why)
		assert.Equal(t, !reached, strings.Contains(v.Findings[0].Why, "was cut off (call timed out), and the host did not end flaky#1, which no call had reached."))
	}
}

// TestTiedToTheRequestThatOpenedIt: a server that is killed when its open is answered was launched with something that ends with it.
func TestTiedToTheRequestThatOpenedIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after  time.Duration
		called bool
		busy   bool // the host closes another session meanwhile
		tied   bool
	}{
		"at the answer":       {after: ms, tied: true},
		"later":               {after: 200 * ms},
		"after a call":        {after: ms, called: true},
		"busy with another's": {after: ms, busy: true},
	} {
		p := newPlay()
		other := p.open("s2", "flaky")
		p.wait(s)
		a := p.open("s1", "flaky")
		if c.called {
			p.call(a, "s1", "flaky", "")
		}
		p.wait(c.after)
		if c.busy {
			p.close("s2", "flaky", func() { p.dead(a); p.bye(other) })
		} else {
			p.dead(a)
		}
		n := 1
		if c.busy {
			n = 0
		}
		p.restless("after", nil, want("flaky", "s1", 1), want("flaky", "s2", n))
		f := only(t, Judge(p.done()), "killed")
		assert.Equal(t, c.tied, strings.Contains(f.Why, "That was when the open of session s1 was answered."), "%s: %s", name, f.Why)
		assert.Equal(t, c.tied, strings.Contains(f.Fix, "Give each server a lifetime of its own"), name)
		assert.Contains(t, f.Fix, "Signal only what you launched", name)
	}
}
