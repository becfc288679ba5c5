package verdict

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// closedBehind is a session that was closed while its server stayed, behind a
// launcher that is gone, or as change makes it.
func closedBehind(change func(p *play, server string)) *record.Run {
	const launcher = 400
	p := newPlay()
	p.run.Events[0].Process.SID = hostPID
	p.helperAt(launcher, record.Process{PPID: hostPID, SID: hostPID, Comm: "npx"})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	a := p.launch("flaky", "s1", launcher)
	p.fault(a, "start", "launcher", false)
	p.greet(a)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.close("s1", "flaky", func() { p.eof(a) })
	delete(p.procs, record.Identity{PID: launcher, Start: launcher * 100})
	p.as(a, func(row *record.Process) { row.PPID = keeperPID })
	change(p, a)
	p.restless("after", nil, want("flaky", "s1", 0))
	return p.done()
}

func (p *play) as(server string, change func(*record.Process)) {
	row := p.procs[p.ids[server]]
	change(&row)
	p.procs[p.ids[server]] = row
}

// TestReachWhileTheHostLives: a server that stayed because its launcher alone
// was ended is told from one that nobody tried to end.
func TestReachWhileTheHostLives(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change     func(p *play, server string)
		kind, says string
	}{
		"launcher gone": {func(*play, string) {}, "shielded", "(pid 400), which is gone: the host ended the launcher"},
		"own group": {func(p *play, a string) {
			p.as(a, func(row *record.Process) { row.PGID = row.PID })
		}, "shielded", "a signal to the launcher's group does not reach it either"},
		"own session": {func(p *play, a string) {
			p.as(a, func(row *record.Process) { row.SID = row.PID })
		}, "escaped", "in a session of its own"},
		"launcher there": {func(p *play, a string) {
			p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "npx"})
			p.as(a, func(row *record.Process) { row.PPID = 400 })
		}, "not-escalated", "is still running"},
		"signalled":    {func(p *play, a string) { p.term(a) }, "not-escalated", "it caught SIGTERM"},
		"gone in time": {func(p *play, a string) { p.dead(a) }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Judge(closedBehind(c.change))
			kinds := map[string]string{}
			for _, f := range v.Findings {
				kinds[f.Law] = f.Kind
				if f.Law == "L1" {
					assert.Contains(t, f.Why, c.says)
				}
			}
			assert.Equal(t, c.kind, kinds["L1"])
		})
	}
}

// TestSessionsOfHelpers: a helper has escaped when it is in a session that the
// host knows nothing of.
func TestSessionsOfHelpers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sid  int
		kind string
	}{
		"the host's":                           {hostPID, "helper"},
		"its own":                              {500, "escaped"},
		"another's, forked again":              {499, "escaped"},
		"one that the host gave to its server": {101, "helper"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.run.Events[0].Process.SID = hostPID
			a := p.open("s1", "flaky")
			for i := range p.run.Events {
				if b := p.run.Events[i].Birth; b != nil {
					b.SID, b.PGID = b.PID, b.PID // setsid between fork and exec
				}
			}
			p.stop("stop", func() { p.bye(a) })
			p.helperAt(500, record.Process{PPID: keeperPID, SID: c.sid, Comm: "chrome"})
			p.restless("host gone", nil)
			assert.Equal(t, c.kind, only(t, Judge(p.over(record.End{Reason: "done"})), c.kind).Kind)
		})
	}
}

// TestZombiesOfServers: who did not wait for its children is asked, and where
// that is a server, nobody else could.
func TestZombiesOfServers(t *testing.T) {
	t.Parallel()
	for parent, want := range map[string]string{"server": "", "host": "zombie"} {
		t.Run(parent, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			a := p.open("s1", "flaky")
			ppid := map[string]int{"server": p.ids[a].PID, "host": hostPID}[parent]
			p.helperAt(500, record.Process{PPID: ppid, Comm: "git", State: "Z"})
			p.restless("after", nil, record.Want{Label: "flaky", Session: "s1", Live: 1})
			delete(p.procs, record.Identity{PID: 500, Start: 50000})
			var kinds []string
			for _, f := range Judge(p.done()).Findings {
				kinds = append(kinds, f.Kind)
			}
			assert.Equal(t, want, strings.Join(kinds, " "))
		})
	}
}

// TestKilledBySibling: what another server announced that it does is not held
// against the host; the same death without a word is.
func TestKilledBySibling(t *testing.T) {
	t.Parallel()
	for _, announced := range []bool{true, false} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.call(a, "s1", "flaky", "")
		b := p.open("s2", "flaky")
		if announced {
			p.add(record.Event{Kind: record.Faulted, Server: b, Fault: &record.Fault{On: "start", Do: "kill-siblings", Targets: []int{p.ids[a].PID}}})
		}
		p.dead(a)
		p.open("s1", "flaky")
		p.quiet("after", want("flaky", "s1", 1), want("flaky", "s2", 1))
		v := Judge(p.done())
		if announced {
			assert.Empty(t, v.Findings)
			continue
		}
		assert.Equal(t, "killed", only(t, v, "killed").Kind)
	}
}

// TestProxyThatLives: a server that was forked twice has a first parent that is
// gone at once; its proxy is known by its end of stdin.
func TestProxyThatLives(t *testing.T) {
	t.Parallel()
	for held, kind := range map[bool]string{true: "abandoned", false: "escaped"} {
		p := newPlay()
		p.run.Events[0].Process.SID = hostPID
		p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "docker", Args: []string{"docker", "run", "-i", runID}})
		p.session("s1", "flaky", record.SessionOpening, "", false)
		a := p.launch("flaky", "s1", 401)
		p.fault(a, "start", "container", false)
		p.greet(a)
		p.session("s1", "flaky", record.SessionOpen, "", false)
		p.close("s1", "flaky", func() {})
		p.as(a, func(row *record.Process) { row.PPID, row.SID = keeperPID, 401 })
		p.know[p.ids[a]] = record.Evidence{Process: p.procs[p.ids[a]], Server: a}
		if held {
			p.examined(a, holder("docker", 400, 5))
		}
		for i := range p.run.Events {
			if b := p.run.Events[i].Birth; b != nil {
				b.SID = 401
			}
		}
		p.restless("after", nil, want("flaky", "s1", 0))
		for _, f := range Judge(p.done()).Findings {
			if f.Law == "L1" {
				assert.Equal(t, kind, f.Kind, "held: %v", held)
			}
		}
	}
}

// TestASessionForALauncher: a host that launches npx in a session of its own, and ends npx alone, leaves a server that a signal to the
// group would have reached. A list of known findings may still have it as escaped.
func TestASessionForALauncher(t *testing.T) {
	t.Parallel()
	const launcher = 400
	for name, outlives := range map[string]bool{"its session": false, "the host": true} {
		p := newPlay()
		p.run.Events[0].Process.SID = hostPID
		p.helperAt(launcher, record.Process{PPID: hostPID, PGID: launcher, SID: launcher, Comm: "npx"})
		p.session("s1", "flaky", record.SessionOpening, "", false)
		a := p.launch("flaky", "s1", launcher)
		p.fault(a, "start", "launcher", false)
		p.as(a, func(row *record.Process) { row.SID, row.PGID = launcher, launcher })
		for i := range p.run.Events {
			if b := p.run.Events[i].Birth; b != nil {
				b.SID, b.PGID = launcher, launcher
			}
		}
		p.greet(a)
		p.session("s1", "flaky", record.SessionOpen, "", false)
		p.look(record.CensusSample, "")
		left := func() {
			delete(p.procs, record.Identity{PID: launcher, Start: launcher * 100})
			p.as(a, func(row *record.Process) { row.PPID = keeperPID })
		}
		if outlives {
			p.stop("stop", left)
			p.restless("host gone", nil)
		} else {
			p.close("s1", "flaky", left)
			p.restless("after", nil, want("flaky", "s1", 0))
		}
		f := only(t, Judge(p.done()), "shielded")
		assert.NotContains(t, f.Why, "No signal to the launched process group reaches it", name)
		assert.Len(t, f.Aliases, 1, name)
	}
}

// TestAChainOfLaunchers: each of npx and the shell that it starts stands between the host and the server, whoever launched it.
func TestAChainOfLaunchers(t *testing.T) {
	t.Parallel()
	const first, second = 400, 401
	p := newPlay()
	p.run.Events[0].Process.SID = hostPID
	p.helperAt(first, record.Process{PPID: hostPID, SID: hostPID, Comm: "npx"})
	p.helperAt(second, record.Process{PPID: first, SID: hostPID, Comm: "sh"})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	a := p.launch("flaky", "s1", second)
	p.greet(a)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.look(record.CensusSample, "")
	p.stop("stop", nil)
	p.restless("host gone", nil)
	helpers := 0
	for _, f := range Judge(p.over(record.End{Reason: "done"})).Findings {
		if f.Kind == "helper" {
			helpers++
			assert.Contains(t, f.Why, "It is a launcher: it stands between the host and flaky#1.")
		}
	}
	assert.Equal(t, 2, helpers)
}
