package verdict

import (
	"fmt"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// twoSessions are a user's session and a job beside it.
func twoSessions(p *play) (mine, other string) {
	mine = p.open("user", "steady")
	p.call(mine, "user", "steady", "")
	return mine, p.open("job", "flaky")
}

var collateralCases = []caseOf{
	{
		kind: "killed",
		show: func(p *play) *record.Run {
			mine, other := twoSessions(p)
			p.close("job", "flaky", func() { p.bye(other); p.dead(mine) })
			p.restless("after", nil, want("flaky", "job", 0), want("steady", "user", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // its own fault ended it
			mine, other := twoSessions(p)
			p.fault(mine, "order", "exit", true)
			p.close("job", "flaky", func() { p.bye(other); p.dead(mine) })
			p.open("user", "steady")
			p.quiet("after", want("flaky", "job", 0), want("steady", "user", 1))
			return p.done()
		},
	},
	{
		kind: "terminated",
		show: func(p *play) *record.Run {
			mine, other := twoSessions(p)
			p.close("job", "flaky", func() { p.term(other); p.term(mine); p.dead(other); p.dead(mine) })
			p.restless("after", nil, want("flaky", "job", 0), want("steady", "user", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // the host was asked to end
			mine, other := twoSessions(p)
			p.stop("stop", func() { p.term(other); p.term(mine); p.dead(other); p.dead(mine) })
			p.quiet("host gone")
			return p.over(record.End{Reason: "done"})
		},
	},
	{
		kind: "cut-off",
		show: func(p *play) *record.Run {
			mine, other := twoSessions(p)
			p.close("job", "flaky", func() { p.bye(other); p.bye(mine) })
			p.restless("after", nil, want("flaky", "job", 0), want("steady", "user", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // it was the session's last server: a new one took its place
			mine, other := twoSessions(p)
			p.close("job", "flaky", func() { p.bye(other) })
			p.open("user", "steady")
			p.bye(mine)
			p.quiet("after", want("flaky", "job", 0), want("steady", "user", 1))
			return p.done()
		},
	},
	{
		kind: "missing",
		show: func(p *play) *record.Run { // the new one was ended instead of the old one
			p.open("s1", "flaky")
			st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
			p.session("s1", "flaky", record.SessionOpening, "", false)
			b := p.launch("flaky", "s1")
			p.greet(b)
			p.bye(b)
			p.session("s1", "flaky", record.SessionOpen, "", false)
			p.end(st, "")
			p.run.Header.Limits.Severity = map[string]record.Severity{"L1": record.SeverityOff}
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.open("s1", "flaky")
			p.bye(a)
			p.quiet("after", want("flaky", "s1", 1))
			return p.done()
		},
	},
	{
		kind: "bystander",
		show: func(p *play) *record.Run { // the host signalled its own group when a session ended
			by := standBy(p)
			a := p.open("s1", "flaky")
			p.call(a, "s1", "flaky", "")
			p.close("s1", "flaky", func() {
				p.bye(a)
				p.add(record.Event{Kind: record.BystanderSeen, Process: &by, Exit: &record.Exit{Code: -1, Signal: "SIGTERM"}})
			})
			return p.done()
		},
		near: func(p *play) *record.Run { // it did so on its way out: the group is its own
			by := standBy(p)
			a := p.open("s1", "flaky")
			p.stop("stop", func() {
				p.bye(a)
				p.add(record.Event{Kind: record.BystanderSeen, Process: &by, Exit: &record.Exit{Code: -1, Signal: "SIGTERM"}})
			})
			return p.done()
		},
	},
}

// twinCases are those of the bench's own process that looks like a server.
var twinCases = []caseOf{{
	kind: "twin",
	show: func(p *play) *record.Run {
		by := record.Process{Identity: record.Identity{PID: 22, Start: 2002}, PPID: keeperPID, PGID: 22, SID: 22, State: "S", Comm: "leakbench"}
		p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: "flaky", Process: &by})
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() {
			p.bye(a)
			p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: "flaky", Process: &by, Exit: &record.Exit{Code: -1, Signal: "SIGKILL"}})
		})
		return p.done()
	},
	near: func(p *play) *record.Run {
		by := record.Process{Identity: record.Identity{PID: 22, Start: 2002}, PPID: keeperPID, PGID: 22, SID: 22, State: "S", Comm: "leakbench"}
		p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: "flaky", Process: &by})
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() { p.bye(a) })
		return p.done()
	},
}}

// recycledCases are those of the bench's own process with a dead server's pid.
var recycledCases = []caseOf{{
	kind: "recycled",
	show: func(p *play) *record.Run { return recycledRun(p, &record.Exit{Code: -1, Signal: "SIGKILL"}) },
	near: func(p *play) *record.Run { return recycledRun(p, nil) },
}}

func recycledRun(p *play, exit *record.Exit) *record.Run {
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.bye(a) })
	by := record.Process{Identity: record.Identity{PID: p.ids[a].PID, Start: 77777}, PPID: keeperPID, State: "S", Comm: "leakbench"}
	p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsRecycled, Server: a, Process: &by})
	b := p.open("s2", "flaky")
	p.close("s2", "flaky", func() {
		p.bye(b)
		if exit != nil {
			p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsRecycled, Server: a, Process: &by, Exit: exit})
		}
	})
	return p.done()
}

// standBy puts the bench's own process into the host's group.
func standBy(p *play) record.Process {
	by := record.Process{Identity: record.Identity{PID: 21, Start: 2001}, PPID: keeperPID, PGID: hostPID, State: "S", Comm: "leakbench"}
	p.add(record.Event{Kind: record.BystanderSeen, Process: &by})
	return by
}

// relaunch opens a session n times, each time on a server that dies.
func relaunch(p *play, n int, pause func()) {
	for range n {
		a := p.open("s1", "flaky")
		p.fault(a, "order", "exit", true)
		p.dead(a)
		pause()
	}
}

var spawningCases = []caseOf{
	{
		kind: "respawn",
		show: func(p *play) *record.Run {
			p.run.Header.Limits.SpawnsPerSession = 5
			relaunch(p, 6, func() {})
			return p.done()
		},
		near: func(p *play) *record.Run {
			p.run.Header.Limits.SpawnsPerSession = 5
			relaunch(p, 5, func() {})
			return p.done()
		},
	},
}

// closing is a close of one session, with what happens in its course.
func closing(failed string, course func(p *play, server string)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open("s1", "flaky")
		st := p.begin(record.Step{Op: "close", Session: "s1", Label: "flaky"})
		p.session("s1", "flaky", record.SessionEnding, "close", false)
		course(p, a)
		p.session("s1", "flaky", record.SessionEnded, "close", false)
		p.end(st, failed)
		return p.done()
	}
}

// stopping is a stop of the host.
func stopping(failed string, exit record.Exit, course func(p *play, server string)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open("s1", "flaky")
		st := p.begin(record.Step{Op: "stop"})
		course(p, a)
		p.leave()
		exit := exit // each play its own: plays are judged side by side
		exit.Asked = true
		if failed == "" {
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &exit})
			p.end(st, "")
		} else {
			p.end(st, failed)
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &exit})
		}
		if _, there := p.procs[p.ids[a]]; there {
			p.bye(a)
		}
		p.quiet("host gone")
		return p.over(record.End{Reason: "done"})
	}
}

// limited is a call with a time limit, that fails after a time.
func limited(limit, took time.Duration) func(*play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open("s1", "flaky")
		st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "fail", Limit: record.Duration(limit)})
		p.fault(a, "call", "stop-reading", true)
		p.wait(took)
		p.end(st, "it did not return")
		p.close("s1", "flaky", func() { p.bye(a) })
		return p.done()
	}
}

var shutdownCases = []caseOf{
	{
		kind: "slow-close",
		show: closing("", func(p *play, a string) { p.wait(2 * s); p.term(a); p.wait(4 * s); p.dead(a) }),
		near: closing("", func(p *play, a string) { p.wait(2 * s); p.term(a); p.wait(2 * s); p.dead(a) }),
	},
	{
		kind: "hung-close",
		show: closing("no answer from the host within 1m30s", func(p *play, a string) { p.bye(a); p.wait(90 * s) }),
		near: closing("no such session", func(p *play, a string) { p.bye(a) }),
	},
	{
		kind: "hung-call",
		show: limited(300*ms, 15*s),
		near: limited(300*ms, 3*s), // the limit and a close, at the most
	},
	{
		kind: "hung-command",
		show: commandLeft(record.Evidence{Process: record.Process{
			Identity: record.Identity{PID: 77, Start: 9}, Comm: "list", State: "S", Args: []string{"list", "--all"},
		}, Syscall: "wait4"}),
		near: commandLeft(),
	},
	{
		kind: "slow-stop",
		show: stopping("", record.Exit{}, func(p *play, a string) { p.eof(a); p.wait(11 * s); p.dead(a) }),
		near: stopping("", record.Exit{}, func(p *play, a string) { p.eof(a); p.wait(9 * s); p.dead(a) }),
	},
	{
		kind: "hung-stop",
		show: stopping("the host did not end within 10 s and was killed", record.Exit{Code: -1, Signal: "SIGKILL"},
			func(p *play, _ string) { p.wait(9999 * ms) }),
		near: stopping("", record.Exit{Code: -1, Signal: "SIGTERM"}, func(p *play, a string) { p.wait(s); p.bye(a) }),
	},
}

// commandLeft is a job whose command has not exited in time, where something of it is there, or has.
func commandLeft(left ...record.Evidence) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.run.Header.Host.Kind = record.KindOneshot
		st := p.begin(record.Step{Op: record.OpJob, Session: "job", Label: "flaky", Limit: record.Duration(60 * s)})
		p.session("job", "flaky", record.SessionOpening, record.WhyTick, false)
		a := p.launch("flaky", "job")
		p.greet(a)
		p.ask(a)
		p.answer(a)
		p.wait(60 * s)
		p.bye(a)
		p.session("job", "flaky", record.SessionEnded, record.WhyTick, false)
		if st.OK = len(left) == 0; !st.OK {
			st.Error = "the command did not exit within 1m0s"
		}
		p.add(record.Event{Kind: record.StepEnded, Step: &st, Evidence: left})
		p.quiet("after")
		return p.done()
	}
}

// crashing is a host that ends in the middle of its work.
func crashing(exit record.Exit) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open("chat", "flaky")
		p.call(a, "chat", "flaky", "")
		p.wait(s)
		p.bye(a)
		p.leave()
		p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &exit, Text: "panic: no such session"})
		p.quiet("host gone")
		return p.over(record.End{Reason: "done"})
	}
}

var recoveryCases = []caseOf{
	{
		kind: "no-recovery",
		show: func(p *play) *record.Run {
			relaunch(p, 1, func() {})
			st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
			p.session("s1", "flaky", record.SessionEnded, "could not be opened", false)
			p.end(st, "server flaky is marked as dead")
			return p.done()
		},
		near: func(p *play) *record.Run { // a fault was in the way
			relaunch(p, 1, func() {})
			st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
			b := p.launch("flaky", "s1")
			p.fault(b, "initialize", "exit", true)
			p.dead(b)
			p.session("s1", "flaky", record.SessionEnded, "could not be opened", false)
			p.end(st, "EOF")
			return p.done()
		},
	},
	{
		kind: "host-crashed",
		show: crashing(record.Exit{Code: 2}),
		near: crashing(record.Exit{Code: -1, Signal: "SIGKILL"}),
	},
}

// account is what a failing test prints.
func account(v Verdict) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", v.Outcome)
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "%s %s x%d (%s): %s\n  expected %s\n  found %s\n  why %s\n  fix %s\n", f.Law, f.Kind, f.Count, f.Severity, f.Title, f.Expected, f.Found, f.Why, f.Fix)
		for _, value := range f.Values {
			fmt.Fprintf(&b, "    %s\n", value)
		}
	}
	for _, d := range v.Doubts {
		fmt.Fprintf(&b, "doubt %s: %s\n", d.Code, d.Text)
	}
	for _, l := range v.Laws {
		fmt.Fprintf(&b, "%s %s: %s; expected %s; found %s %q %s\n", l.Law, l.Name, l.Status, l.Expected, l.Found, l.Values, l.Reason)
	}
	return b.String()
}
