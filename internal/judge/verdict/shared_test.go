package verdict

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/record"
)

// share makes it a run whose sessions use one entry.
func (p *play) share() {
	p.run.Header.Plan.Laws = append(p.run.Header.Plan.Laws, "L11")
}

// says is a call of a session that a server gets, and which names the session.
func (p *play) says(server, session string) {
	st := p.begin(record.Step{Op: record.OpCall, Session: session, Label: "app", Detail: "echo"})
	for _, phase := range []record.Phase{record.PhaseReceived, record.PhaseAnswered} {
		p.add(record.Event{Kind: record.RPC, Server: server, RPC: &record.RPCInfo{Method: "tools/call", ID: "1", Tool: "echo", Phase: phase, Session: session}})
	}
	p.end(st, "")
}

// joins opens a session of the entry. Its server, where it gets one of its own, names no session.
func (p *play) joins(session string, own bool) (server string) {
	st := p.begin(record.Step{Op: record.OpOpen, Session: session, Label: "app"})
	if own {
		server = p.launch("app", "")
		p.greet(server)
	}
	p.end(st, "")
	return server
}

// leaves ends a session, and its server where one is named.
func (p *play) leaves(op record.Op, session, server string) {
	st := p.begin(record.Step{Op: op, Session: session, Label: "app"})
	if server != "" {
		p.bye(server)
	}
	p.end(st, "")
}

// apart are two sessions with a process each; what goes on in between is the case's.
func apart(course func(p *play, a, b string)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.share()
		a, b := p.joins("one", true), p.joins("two", true)
		p.says(a, "one")
		p.says(b, "two")
		course(p, a, b)
		return p.done()
	}
}

const unseen = "no process served two sessions of an entry, and none was seen to end with its session"

var sharedCases = []caseOf{
	{
		kind: "per-conversation",
		show: apart(func(p *play, a, _ string) { p.leaves(record.OpClose, "one", a) }),
		near: apart(func(p *play, a, _ string) { p.bye(a) }), // nobody had ended the session: it is no end with it
	},
}

func TestSharing(t *testing.T) {
	t.Parallel()
	closed := func(p *play, a, _ string) { p.leaves(record.OpClose, "one", a) }
	for name, c := range map[string]struct {
		play  func(p *play) *record.Run
		cause record.Cause // of the one finding; "": none
		n     int
		found string // of the law
		why   string // it was not judged
	}{
		"each closed":  {play: apart(func(p *play, a, b string) { closed(p, a, ""); p.leaves(record.OpClose, "two", b) }), cause: record.CausePerSession, n: 2, found: "0 processes served several sessions, at most 1"},
		"forgotten":    {play: apart(func(p *play, a, _ string) { p.leaves(record.OpForget, "one", a) }), cause: record.CausePerSession, n: 1, found: "0 processes served several sessions, at most 1"},
		"one for both": {play: apart(func(p *play, a, b string) { p.says(a, "two"); closed(p, a, b) }), found: "1 process served several sessions, at most 2"},
		"three at one, and it ends with the last": {play: apart(func(p *play, a, b string) {
			p.says(a, "two")
			p.says(a, "three")
			p.leaves(record.OpClose, "two", "")
			closed(p, a, b)
		}), found: "1 process served several sessions, at most 3"},
		"never ended": {play: apart(func(*play, string, string) {}), why: unseen},
		"called again after its end": {play: apart(func(p *play, a, _ string) {
			p.leaves(record.OpClose, "one", "")
			p.says(a, "one")
			p.bye(a)
		}), why: unseen},
		"its end was skipped": {play: apart(func(p *play, a, _ string) {
			p.add(record.Event{Kind: record.StepSkipped, Step: &record.Step{N: 90, Op: record.OpClose, Session: "one", Label: "app"}})
			p.bye(a)
		}), why: unseen},
		"another's end":          {play: apart(func(p *play, a, _ string) { p.leaves(record.OpClose, "two", a) }), why: unseen},
		"ended before the close": {play: apart(func(p *play, a, _ string) { p.bye(a); p.leaves(record.OpClose, "one", "") }), why: unseen},
		"broken":                 {play: apart(func(p *play, a, _ string) { p.fault(a, record.OnOrder, "exit", true); closed(p, a, "") }), why: unseen},
		"with the host": {play: apart(func(p *play, a, b string) {
			p.stop(record.OpStop, func() { p.leaves(record.OpClose, "one", a); p.bye(b) })
			p.quiet("host gone")
		}), why: unseen},
		"one after the other": {play: func(p *play) *record.Run { return inTurn(p) }, why: unseen},
		"beside one of several": {play: apart(func(p *play, a, b string) {
			p.says(b, "three")
			closed(p, a, "")
		}), found: "1 process served several sessions, at most 2"},
		"requests": {play: requests(record.Profile{}), cause: record.CausePerRequest, n: 2, found: "0 processes served several sessions, at most 1"},
		"idle":     {play: requests(record.Profile{Idle: record.Duration(s)}), why: unseen},
		"renewed":  {play: requests(record.Profile{Renewal: record.Duration(s)}), why: unseen},
		"two requests each": {play: func(p *play) *record.Run {
			p.share()
			for range 2 {
				server := p.joins("one", true)
				p.says(server, "one")
				p.says(server, "one")
				p.bye(server)
			}
			return p.done()
		}, why: unseen},
		"a request each of two": {play: func(p *play) *record.Run {
			p.share()
			for _, session := range []string{"one", "two"} {
				server := p.joins(session, true)
				p.says(server, session)
				p.bye(server)
			}
			return p.done()
		}, why: unseen},
		"two for one, which stay": {play: func(p *play) *record.Run {
			p.share()
			p.says(p.joins("one", true), "one")
			p.says(p.joins("one", true), "one")
			return p.over(record.End{Reason: record.EndDone})
		}, why: unseen},
		"calls that name nobody": {play: func(p *play) *record.Run {
			p.share()
			for range 2 {
				server := p.joins("one", true)
				p.says(server, "")
				p.bye(server)
			}
			return p.done()
		}, why: unseen},
		"closed, and opened anew": {play: func(p *play) *record.Run {
			p.share()
			for range 2 {
				server := p.joins("one", true)
				p.says(server, "one")
				p.leaves(record.OpClose, "one", server)
			}
			return p.done()
		}, why: unseen},
		"servers that are told whose they are": {play: func(p *play) *record.Run {
			p.share()
			a, b := p.open("one", "app"), p.open("two", "app")
			p.call(a, "one", "app", "")
			p.call(b, "two", "app", "")
			p.leaves(record.OpClose, "one", a)
			return p.done()
		}, cause: record.CausePerSession, n: 1, found: "0 processes served several sessions, at most 1"},
		"a server of one session, which another calls": {play: func(p *play) *record.Run {
			p.share()
			a := p.open("one", "app")
			p.call(a, "one", "app", "")
			p.says(a, "two")
			return p.done()
		}, found: "1 process served several sessions, at most 2"},
		"beside another entry": {play: func(p *play) *record.Run {
			p.share()
			a, b := p.open("one", "app"), p.open("two", "other")
			p.call(a, "one", "app", "")
			p.call(b, "two", "other", "")
			p.leaves(record.OpClose, "one", a)
			return p.done()
		}, why: unseen},
		"beside what the host before left": {play: func(p *play) *record.Run {
			p.share()
			p.says(p.joins("one", true), "one")
			p.restart(record.OpKill, nil)
			b := p.joins("two", true)
			p.says(b, "two")
			p.leaves(record.OpClose, "two", b)
			return p.done()
		}, why: unseen},
		"beside one that stays": {play: func(p *play) *record.Run {
			p.share()
			a, b := p.joins("one", true), p.joins("two", true)
			p.says(a, "one")
			p.says(b, "two")
			p.leaves(record.OpClose, "one", a)
			return p.over(record.End{Reason: record.EndDone})
		}, cause: record.CausePerSession, n: 1, found: "0 processes served several sessions, at most 1"},
		"a call that failed is no end": {play: apart(func(p *play, a, _ string) {
			p.call("", "one", "app", "refused")
			p.bye(a)
		}), why: unseen},
		"not asked for": {play: func(p *play) *record.Run { run := sharedCases[0].show(p); run.Header.Plan.Laws = nil; return run }, why: "the scenario does not ask whether sessions share a server"},
		"nothing called": {play: func(p *play) *record.Run {
			p.share()
			p.leaves(record.OpClose, "one", p.joins("one", true))
			return p.done()
		}, why: unseen},
	} {
		v := Judge(c.play(newPlay()))
		r := resultOf(v, "L11")
		assert.Equal(t, c.why, r.Reason, name)
		if c.why == "" {
			assert.Equal(t, c.found, r.Found, name)
			assert.Equal(t, "one process for the sessions of an entry, which outlives each of them", r.Expected, name)
		}
		i := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Law == "L11" })
		if c.cause == "" {
			assert.Negative(t, i, "%s\n%s", name, account(v))
			continue
		}
		if assert.GreaterOrEqual(t, i, 0, name) {
			f := v.Findings[i]
			assert.Equal(t, []any{"per-conversation", record.SeverityWarning, c.n}, []any{f.Kind, f.Severity, f.Count}, name)
			assert.Equal(t, (&breach.Breach{Law: "L11", Kind: "per-conversation", Label: "app", Cause: c.cause}).Print(), f.Fingerprint, name)
			assert.False(t, f.IsError(), "a SHOULD fails no run")
		}
	}
}

// inTurn are two sessions, one after the other: each has the process of its time.
func inTurn(p *play) *record.Run {
	p.share()
	for _, session := range []string{"one", "two"} {
		server := p.joins(session, true)
		p.says(server, session)
		p.leaves(record.OpClose, session, server)
	}
	return p.done()
}

// requests are three of one session, each with a process of its own.
func requests(of record.Profile) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.share()
		p.run.Header.Host.Profile = of
		for range 3 {
			server := p.joins("one", true)
			p.says(server, "one")
			p.bye(server)
		}
		return p.done()
	}
}

// TestSharedHarm: where sessions share an entry, the calls tell whose server it was that the host ended.
func TestSharedHarm(t *testing.T) {
	t.Parallel()
	either := func(course func(p *play, a, b string)) func(p *play) *record.Run {
		return func(p *play) *record.Run {
			p.run.Header.Host.Servers = record.Either
			return apart(course)(p)
		}
	}
	fails := func(p *play, expect record.Expect) {
		st := p.begin(record.Step{Op: record.OpCall, Session: "two", Label: "app", Detail: "echo", Expect: expect})
		p.end(st, "transport closed")
	}
	term := func(p *play, _, b string) { p.term(b); p.dead(b) }
	for name, c := range map[string]struct {
		play func(p *play) *record.Run
		kind string // of the one finding of L3
	}{
		"signalled":          {either(func(p *play, a, b string) { term(p, a, b); fails(p, "") }), "terminated"},
		"killed":             {either(func(p *play, _, b string) { p.dead(b); fails(p, record.ExpectOK) }), "killed"},
		"may fail":           {either(func(p *play, _, b string) { p.dead(b); fails(p, record.ExpectAny) }), ""},
		"may fail, and then": {either(func(p *play, _, b string) { p.dead(b); fails(p, record.ExpectAny); fails(p, "") }), "killed"},
		"works without it": {either(func(p *play, a, b string) {
			p.dead(b)
			fails(p, record.ExpectAny)
			p.says(a, "two")
			fails(p, "")
		}), ""},
		"served by another":    {either(func(p *play, a, b string) { p.dead(b); p.says(a, "two") }), ""},
		"nobody noticed":       {either(func(p *play, _, b string) { p.dead(b) }), ""},
		"closed":               {either(func(p *play, _, b string) { p.leaves(record.OpClose, "two", b); fails(p, "") }), ""},
		"broken":               {either(func(p *play, _, b string) { p.fault(b, record.OnOrder, "exit", true); p.dead(b); fails(p, "") }), ""},
		"seen by others":       {either(func(p *play, _, b string) { p.outside(b); p.dead(b); fails(p, "") }), ""},
		"healthy":              {either(func(p *play, _, _ string) { fails(p, "") }), ""},
		"each session its own": {apart(func(p *play, a, b string) { term(p, a, b); fails(p, "") }), ""},
		"another session":      {either(func(p *play, a, _ string) { p.dead(a); fails(p, "") }), ""},
		"of two sessions": {either(func(p *play, _, b string) {
			p.says(b, "three")
			p.dead(b)
			fails(p, "")
			st := p.begin(record.Step{Op: record.OpCall, Session: "three", Label: "app"})
			p.end(st, "transport closed")
		}), "killed"},
		"lost": {either(func(p *play, _, b string) {
			p.add(record.Event{Kind: record.Lost, Server: b, Text: "the bench cut the connection"})
			p.dead(b)
			fails(p, "")
		}), ""},
		"with the host": {either(func(p *play, a, b string) {
			st := p.begin(record.Step{Op: record.OpCall, Session: "two", Label: "app"})
			p.stop(record.OpStop, func() { p.bye(a); p.dead(b) })
			p.end(st, "transport closed")
		}), ""},
		"skipped before": {either(func(p *play, _, b string) {
			p.dead(b)
			p.add(record.Event{Kind: record.StepSkipped, Step: &record.Step{N: 90, Op: record.OpCall, Session: "two", Label: "app"}})
			fails(p, "")
		}), "killed"},
		"a close that failed": {either(func(p *play, _, b string) {
			st := p.begin(record.Step{Op: record.OpClose, Session: "two", Label: "app"})
			p.dead(b)
			p.end(st, "it was gone")
			fails(p, "")
		}), ""},
		"answered before": {either(func(p *play, _, b string) { fails(p, ""); p.dead(b) }), ""},
	} {
		v := Judge(c.play(newPlay()))
		i := slices.IndexFunc(v.Findings, func(f Finding) bool { return f.Law == "L3" })
		if c.kind == "" {
			assert.Negative(t, i, "%s\n%s", name, account(v))
			continue
		}
		if assert.GreaterOrEqual(t, i, 0, "%s\n%s", name, account(v)) {
			assert.Equal(t, []any{c.kind, 1}, []any{v.Findings[i].Kind, v.Findings[i].Count}, name)
			assert.Len(t, v.Findings[i].Values, 1, name)
			assert.Equal(t, "a server ended that an open session used", resultOf(v, "L3").Found)
			assert.NotContains(t, codesIn(v), record.DoubtStepFailed, name)
			assert.Contains(t, v.Findings[i].Why, "app#2 (pid 102) served session two and ")
		}
	}
}

// outside says that the bench has seen somebody else end a server.
func (p *play) outside(server string) {
	p.add(record.Event{Kind: record.Doubted, Server: server, Doubt: &record.Doubt{Code: record.DoubtOutside, Text: "somebody else"}})
}
