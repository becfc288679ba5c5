package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/record"
)

// TestWhatEndedTheSession: a server whose session was over before it was opened
// anew is abandoned, by what ended it, and keeps its earlier fingerprint as an
// alias. One whose session went on is superseded.
func TestWhatEndedTheSession(t *testing.T) {
	t.Parallel()
	fails := func(p *play) { p.openFails("s1", "flaky", func() { p.greet(p.launch("flaky", "s1")) }) }
	for name, c := range map[string]struct {
		course func(p *play)
		kinds  []string
		title  string
		count  int
	}{
		"closed, twice": {func(p *play) {
			for range 2 {
				p.open("s1", "flaky")
				p.close("s1", "flaky", func() {})
			}
		}, []string{"abandoned"}, "(session closed)", 2},
		"forgotten, and opened": {func(p *play) {
			p.open("s1", "flaky")
			p.session("s1", "flaky", record.SessionEnded, record.WhyForget, false)
			b := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { p.bye(b) })
		}, []string{"abandoned"}, "(session forgotten)", 1},
		"given up, twice, and closed": {func(p *play) {
			fails(p)
			fails(p)
			p.close("s1", "flaky", func() {})
		}, []string{"abandoned"}, "(open failed)", 2},
		"cancelled in a call": {func(p *play) {
			a := p.open("s1", "flaky")
			st := p.begin(record.Step{Op: record.OpCall, Session: "s1", Label: "flaky"})
			p.ask(a)
			st.Cancelled = true
			p.end(st, "cancelled")
			b := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { p.bye(b) })
		}, []string{"abandoned"}, "(call cancelled)", 1},
		"reconnected": {func(p *play) {
			p.open("s1", "flaky")
			b := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { p.bye(b) })
		}, []string{"superseded"}, "(reconnect)", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			c.course(p)
			p.restless("after", nil, want("flaky", "s1", 0))
			v := Judge(p.done())
			assert.Equal(t, c.kinds, kindsIn(v), account(v))
			require.Len(t, v.Findings, 1)
			f := v.Findings[0]
			assert.Contains(t, f.Title, c.title)
			assert.Equal(t, c.count, f.Count, account(v))
			reopened := name != "reconnected"
			assert.Equal(t, reopened, len(f.Aliases) == 1, "%v", f.Aliases)
			if reopened {
				old := breach.Breach{Law: "L1", Kind: "superseded", Label: "flaky", Cause: record.CauseReconnect}
				assert.Equal(t, []string{old.Print()}, f.Aliases)
			}
		})
	}
}

// TestAJobInTime: that a job has a time limit does not mean that it ran out.
func TestAJobInTime(t *testing.T) {
	t.Parallel()
	for ok, title := range map[bool]string{true: "(job done)", false: "(call timed out)"} {
		p := newPlay()
		st := p.begin(record.Step{Op: record.OpJob, Session: "s1", Label: "flaky"})
		p.session("s1", "flaky", record.SessionOpening, record.WhyTick, true)
		p.greet(p.launch("flaky", "s1"))
		failed := ""
		if !ok {
			failed = "no time"
		}
		p.end(st, failed)
		p.session("s1", "flaky", record.SessionEnded, record.WhyTick, true)
		p.restless("after", nil, want("flaky", "s1", 0))
		assert.Contains(t, only(t, Judge(p.done()), "abandoned").Title, title)
	}
}

// TestWhatTheHostHasPutApart: a process in a session of its own has escaped
// where a server has started it, and not where the host has put it there.
func TestWhatTheHostHasPutApart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		started bool
		args    []string
		kind    string
	}{
		"by the host":            {true, []string{"host", "worker"}, "helper"},
		"by a server":            {true, []string{"leakbench", "fakehelper", "--run", runID}, "escaped"},
		"in an old file: by any": {false, []string{"host", "worker"}, "escaped"},
	} {
		p := newPlay()
		if c.started {
			p.started()
		}
		a := p.open("s1", "flaky")
		p.stop("stop", func() { p.bye(a) })
		p.helperAt(500, record.Process{PPID: keeperPID, PGID: 500, SID: 500, Comm: "x", Args: c.args})
		p.restless("host gone", nil)
		v := Judge(p.over(record.End{Reason: "done"}))
		assert.Equal(t, []string{c.kind}, kindsIn(v), "%s\n%s", name, account(v))
	}
}

// TestWhoHoldsTheEnd: the host's own worker may hold a server's stdin.
func TestWhoHoldsTheEnd(t *testing.T) {
	t.Parallel()
	for started, kind := range map[bool]string{true: "abandoned", false: "eof-withheld"} {
		p := newPlay()
		p.helperAt(90, record.Process{PPID: hostPID, Comm: "worker"})
		if started {
			p.started()
		}
		a := p.open("s1", "flaky")
		p.examined(a, record.Holder{Identity: record.Identity{PID: 90, Start: 9000}, FD: 3, Mode: "write", Role: "other"})
		p.close("s1", "flaky", func() {})
		p.restless("after", nil, want("flaky", "s1", 0))
		delete(p.procs, record.Identity{PID: 90, Start: 9000})
		assert.Equal(t, []string{kind}, kindsIn(Judge(p.done())))
	}
}

// TestReapedLater: a zombie that a later look misses was waited for after all.
func TestReapedLater(t *testing.T) {
	t.Parallel()
	for later, kind := range map[bool]string{true: "late-reaped", false: "zombie"} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() { p.eof(a); p.zombie(a) })
		p.wait(2 * s)
		p.restless("after", nil, want("flaky", "s1", 0))
		if later {
			delete(p.procs, p.ids[a])
		}
		p.wait(s)
		p.look(record.CensusSample, "")
		assert.Equal(t, []string{kind}, kindsIn(Judge(p.done())))
	}
}

// TestAZombieGoesWithItsNamespace: that it is gone when the host has ended means that the host waited for it at last, unless both
// were in a PID namespace. The end of that takes its zombies along.
func TestAZombieGoesWithItsNamespace(t *testing.T) {
	t.Parallel()
	for claimed, kind := range map[int]string{0: "late-reaped", 7: "zombie"} {
		p := newPlay()
		p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: "flaky", Process: &record.Process{
			Identity: record.Identity{PID: 8, Start: 8}, PPID: keeperPID,
		}})
		a := p.open("s1", "flaky")
		for _, e := range p.run.Events {
			if e.Kind == record.Born {
				e.Birth.Claimed = claimed
			}
		}
		p.close("s1", "flaky", func() { p.eof(a); p.zombie(a) })
		p.wait(2 * s)
		p.restless("after", nil, want("flaky", "s1", 0))
		p.stop("stop", func() { delete(p.procs, p.ids[a]) })
		p.quiet("host gone")
		assert.Equal(t, []string{kind}, kindsIn(Judge(p.over(record.End{Reason: record.EndDone}))), "claimed %d", claimed)
	}
}

// TestAServerThatNoClientUsed was launched ahead by a gateway, or for a client that never came: of a connection that a newer one has
// replaced, or that has two, nothing is known. What a client has called is told as ever.
func TestAServerThatNoClientUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		servers record.Sharing
		gap     time.Duration
		called  bool
		kind    string
		fix     bool
	}{
		"side by side":      {record.PerSession, ms, false, "abandoned", true},
		"one after another": {record.PerSession, 20 * s, false, "abandoned", true},
		"called":            {record.PerSession, 20 * s, true, "superseded", false},
		"one for all":       {record.Shared, 20 * s, false, "superseded", false},
	} {
		p := newPlay()
		p.run.Header.Host.Kind, p.run.Header.Host.Servers = record.KindGateway, c.servers
		p.session("s1", "flaky", record.SessionOpening, "", false)
		first := p.launch("flaky", "")
		p.greet(first)
		if c.called {
			p.ask(first)
			p.answer(first)
		}
		p.wait(c.gap)
		p.greet(p.launch("flaky", ""))
		p.session("s1", "flaky", record.SessionEnded, "close", false)
		p.wait(s)
		p.restless("after", nil, want("flaky", "s1", 0))
		v := Judge(p.done())
		at := slices.IndexFunc(v.Findings, func(f Finding) bool { return slices.Contains(f.Servers, first) })
		if assert.GreaterOrEqual(t, at, 0, "%s: %s", name, account(v)) {
			assert.Equal(t, c.kind, v.Findings[at].Kind, name)
			assert.Equal(t, c.fix, strings.Contains(v.Findings[at].Fix, "declare how many: spare: 1"), name)
		}
	}
}
