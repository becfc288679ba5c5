package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// lingers closes a session whose server stays; change is what an examination
// finds different from one that waits for its next request.
func lingers(course func(p *play, server string), change func(e *record.Evidence)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() {
			if course != nil {
				course(p, a)
			}
		})
		p.examined(a, holder("host", hostPID, 7))
		e := p.know[p.ids[a]]
		if change != nil {
			change(&e)
		}
		p.know[p.ids[a]] = e
		p.restless("after", nil, want("flaky", "s1", 0))
		return p.done()
	}
}

func heldBy(holders ...record.Holder) func(e *record.Evidence) {
	return func(e *record.Evidence) { e.Descriptors[0].Holders = holders }
}

// A close that did not succeed is not told as one that did.
func TestAServerWhoseCloseFailed(t *testing.T) {
	t.Parallel()
	for _, failed := range []string{"", "no answer from the host within 1m30s", "broken pipe, SERVER is gone"} {
		p := newPlay()
		a := p.open("s1", "flaky")
		st := p.begin(record.Step{Op: "close", Session: "s1", Label: "flaky"})
		p.session("s1", "flaky", record.SessionEnding, "close", false)
		p.wait(2 * s)
		p.session("s1", "flaky", record.SessionEnded, "close", false)
		p.end(st, failed)
		p.examined(a, holder("host", hostPID, 7))
		p.restless("after", nil, want("flaky", "s1", 0))
		f := only(t, Judge(p.done()), "abandoned")
		if failed == "" {
			assert.Contains(t, f.Why, "the host reported success")
			assert.Contains(t, f.Title, "(session closed)")
			continue
		}
		assert.NotContains(t, f.Why, "reported success")
		assert.Contains(t, f.Why, "Closing session s1 failed after 2 s (\""+failed+"\"), and "+a+" is still running")
		assert.Contains(t, f.Title, "(close failed)")
	}
}

// locks has a second launch find the lock of the first one taken: one of the
// same session, or of another one that is open.
func locks(session string) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		a := p.open(session, "flaky")
		p.fault(a, "start", "lock", false)
		p.openFails("s1", "flaky", func() {
			b := p.launch("flaky", "s1")
			p.fault(b, "start", "lock", false)
			p.fault(b, "start", "lock", true)
			p.dead(b)
			if session == "s1" {
				p.bye(a)
			}
		})
		return p.done()
	}
}

var evidenceCases = []caseOf{
	{
		kind: "not-escalated",
		show: lingers(func(p *play, a string) { p.eof(a) }, heldBy()),
		near: closes(func(p *play, a string) { p.eof(a); p.wait(s); p.bye(a) }),
	},
	{
		kind: "pipe-blocked",
		show: lingers(nil, func(e *record.Evidence) { e.Syscall, e.Wchan = "write(1)", "anon_pipe_write" }),
		near: lingers(nil, func(e *record.Evidence) { e.Syscall, e.Wchan = "write(5)", "anon_pipe_write" }), // a log of its own
	},
	{
		kind: "eof-withheld",
		show: lingers(nil, heldBy(holder("server flaky#2", 300, 5))),
		near: lingers(nil, heldBy(holder("server flaky#2", 300, 5), holder("host", hostPID, 7))), // the host has not closed its own
	},
	{
		kind: "stopped",
		show: lingers(nil, func(e *record.Evidence) { e.State = "T" }),
		near: lingers(nil, func(e *record.Evidence) { e.State = "D" }),
	},
	{
		kind: "watchdog-blind",
		show: outlives("kill", func(p *play, a string) { p.fault(a, "start", "watchdog", false); p.eof(a) }, nil),
		near: outlives("kill", func(p *play, a string) { p.eof(a) }, nil),
	},
	{
		kind: "resource-held",
		show: locks("s1"),
		near: locks("s0"), // another session has it, and may
	},
}

// A launcher passes stdin on: that it holds the other end withholds nothing.
func TestALauncherWithholdsNothing(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "proxy", Args: []string{"leakbench", "fakeserver", "--run", runID}})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	a := p.launch("flaky", "s1", 400)
	p.greet(a)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.close("s1", "flaky", func() {})
	p.examined(a, holder("leakbench", 400, 5))
	p.restless("after", nil, want("flaky", "s1", 0))
	assert.NotContains(t, kindsIn(Judge(p.done())), "eof-withheld")
}

// A worker of the host launches servers, too: what it holds, the host holds.
func TestAWorkerOfTheHostWithholdsNothing(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.session("s1", "flaky", record.SessionOpening, "", false)
	a := p.launch("flaky", "s1", 400)
	p.greet(a)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.close("s1", "flaky", func() {})
	p.examined(a, holder("python3", 400, 5))
	p.restless("after", nil, want("flaky", "s1", 0))
	f := only(t, Judge(p.done()), "abandoned")
	assert.Contains(t, f.Why, "still held by python3, which launched it, (pid 400, fd 5): the host never closed it")
}

// A server that has inherited the write end of its own stdin can wait for long.
func TestAServerThatHoldsItsOwnStdinOpen(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	own := holder(record.RoleServer(a), p.ids[a].PID, 4)
	own.Identity = p.ids[a]
	p.examined(a, own)
	p.restless("after", nil, want("flaky", "s1", 0))
	f := only(t, Judge(p.done()), "eof-withheld")
	assert.Contains(t, f.Why, "held by itself (fd 4), which inherited a copy")
	assert.NotContains(t, f.Why, "nobody holds")
}

// What keeps a server once the host has gone.
func TestHeldAfterTheHostsEnd(t *testing.T) {
	t.Parallel()
	for kind, change := range map[string]func(e *record.Evidence){
		"stopped":      func(e *record.Evidence) { e.State = "T" },
		"pipe-blocked": func(e *record.Evidence) { e.Syscall, e.Wchan = "", "pipe_write" },
		"eof-withheld": heldBy(holder("server flaky#2", 300, 5)),
		"orphan":       func(e *record.Evidence) { e.Descriptors[0].Known = false; heldBy(holder("x", 300, 5))(e) },
	} {
		v := Judge(outlives("kill", nil, func(p *play, a string) {
			p.examined(a)
			e := p.know[p.ids[a]]
			change(&e)
			p.know[p.ids[a]] = e
		})(newPlay()))
		f := only(t, v, kind)
		assert.Equal(t, "L2", f.Law)
		complete(t, f)
	}
	v := Judge(outlives("kill", func(p *play, a string) { p.eof(a); p.term(a) }, nil)(newPlay()))
	assert.Equal(t, "L2", only(t, v, "not-escalated").Law)
}

// What got out of reach while the host lived.
func TestOutOfReachOfALivingHost(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"shielded", "escaped"} {
		p := newPlay()
		p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "sh", Args: []string{"sh", "-c", "leakbench fakeserver --run " + runID}})
		p.session("s1", "flaky", record.SessionOpening, "", false)
		a := p.launch("flaky", "s1", 400)
		p.greet(a)
		p.session("s1", "flaky", record.SessionOpen, "", false)
		p.quiet("in between", want("flaky", "s1", 1))
		p.close("s1", "flaky", func() {})
		delete(p.procs, record.Identity{PID: 400, Start: 40000})
		row := p.procs[p.ids[a]]
		row.PPID = keeperPID
		if kind == "escaped" {
			row.SID = row.PID
		}
		p.procs[p.ids[a]] = row
		p.restless("after", nil, want("flaky", "s1", 0))
		f := only(t, Judge(p.done()), kind)
		assert.Equal(t, "L1", f.Law)
		complete(t, f)
	}
}

func TestALockThatAnEndedSessionHolds(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.fault(a, "start", "lock", false)
	p.close("s1", "flaky", func() {})
	p.openFails("s2", "flaky", func() {
		b := p.launch("flaky", "s2")
		p.fault(b, "start", "lock", true)
		p.dead(b)
	})
	p.bye(a)
	f := only(t, Judge(p.done()), "resource-held")
	assert.Contains(t, f.Why, "whose session had ended")
}
