package verdict

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// bornAt gives the latest server a start time in ticks that goes with the
// run's clock, so long before its certificate.
func (p *play) bornAt(before time.Duration) {
	e := &p.run.Events[len(p.run.Events)-2] // ready comes last
	e.Birth.Start = uint64((time.Hour + p.t - before) / (10 * ms))
}

func TestGhosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		why     record.Why
		after   time.Duration // its session had ended
		early   time.Duration // the process had started before its certificate came
		parent  int
		change  func(p *play, a string)
		profile record.Profile
		ghost   bool
	}{
		"launched after a close":              {why: "close", after: 300 * ms, ghost: true},
		"launched after an open that failed":  {why: "not-opened", after: 300 * ms, ghost: true},
		"launched at the moment of the close": {why: "close", after: 60 * ms},
		"the certificate came late":           {why: "close", after: 300 * ms, early: 290 * ms},
		"launched with a request":             {why: record.WhyRequest, after: 300 * ms},
		"launched with each request":          {why: record.WhyPerRequest, after: 300 * ms},
		"behind a launcher that nobody saw":   {why: "close", after: 300 * ms, parent: 77},
		"the host keeps servers":              {why: "close", after: 300 * ms, profile: record.Profile{Resident: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.run.Header.System.OS, p.run.Header.Host.Profile = "linux", c.profile
			p.run.Events[0].Process.Start = uint64(time.Hour / (10 * ms))
			a := p.open("s1", "flaky")
			p.run.Events[len(p.run.Events)-1].T += 0
			p.call(a, "s1", "flaky", "")
			p.close("s1", "flaky", func() { p.bye(a) })
			p.session("s1", "flaky", record.SessionEnded, c.why, false)
			p.wait(c.after)
			var b string
			if c.parent > 0 {
				b = p.launch("flaky", "s1", c.parent)
			} else {
				b = p.launch("flaky", "s1")
			}
			p.bornAt(c.early)
			p.bye(b)
			for i := range p.run.Events { // the first server's start goes with the clock as well
				if e := &p.run.Events[i]; e.Kind == record.Born && e.Server == a {
					e.Birth.Start = uint64((time.Hour + time.Duration(e.T)) / (10 * ms))
				}
			}
			p.quiet("after")
			v := Judge(p.done())
			if !c.ghost {
				assert.Empty(t, v.Findings, account(v))
				return
			}
			assert.Equal(t, []string{"ghost"}, kindsIn(v), account(v))
			assert.Equal(t, Leak, v.Outcome)
			assert.Equal(t, []string{b}, v.Findings[0].Servers)
			assert.Contains(t, v.Findings[0].Why, "after session s1 had ended")
			assert.NotContains(t, account(v), "{")
		})
	}
}

func command(p *play) {
	p.run.Header.Host.Kind = record.KindCommand
}

func TestTwoConnectionsOfACommand(t *testing.T) {
	t.Parallel()
	one := record.Want{Label: "flaky", Live: 1, AtMost: true}
	for name, c := range map[string]struct {
		course func(p *play) (a, b string)
		want   record.Want
		kinds  []string
		doubt  bool
	}{
		"both used":             {func(p *play) (a, b string) { return used(p), used(p) }, one, nil, true},
		"the older one unused":  {func(p *play) (a, b string) { a = p.launch("flaky", ""); p.greet(a); return a, used(p) }, one, []string{"duplicate"}, false},
		"the newer one unused":  {func(p *play) (a, b string) { a = used(p); b = p.launch("flaky", ""); p.greet(b); return a, b }, one, []string{"duplicate"}, false},
		"long after each other": {func(p *play) (a, b string) { a = used(p); p.wait(3 * s); return a, used(p) }, one, []string{"superseded"}, false},
		"declared":              {func(p *play) (a, b string) { return used(p), used(p) }, record.Want{Label: "flaky", Live: 1, AtMost: true, Together: 2}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			command(p)
			a, b := c.course(p)
			if c.want.Together > 0 {
				p.quiet("up", c.want)
			} else {
				p.restless("up", func() {}, c.want)
			}
			p.stop("term", func() { p.bye(a); p.bye(b) })
			v := Judge(p.done())
			assert.ElementsMatch(t, c.kinds, kindsIn(v), account(v))
			if c.doubt {
				assert.Equal(t, []record.DoubtCode{record.DoubtConnections}, codesIn(v), account(v))
			} else {
				assert.Empty(t, v.Doubts, account(v))
			}
		})
	}
}

// TestFirstCallsWithinTheCheckpoint: whether the first calls of two connections come before the checkpoint begins, or after that, is
// chance. Both are in use only where the older one is called again.
func TestFirstCallsWithinTheCheckpoint(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"once": false, "again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			command(p)
			cp := record.Checkpoint{Name: "up", Wants: []record.Want{{Label: "flaky", Live: 1, AtMost: true}}}
			p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
			a, b := used(p), used(p)
			if again {
				p.ask(a)
				p.answer(a)
			}
			p.wait(s)
			p.look(record.CensusSettled, cp.Name)
			p.wait(s)
			p.look(record.CensusConfirm, cp.Name)
			p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
			p.stop("term", func() { p.bye(a); p.bye(b) })
			v := Judge(p.done())
			assert.Empty(t, v.Findings, account(v))
			if again {
				assert.Empty(t, v.Doubts, account(v))
			} else {
				assert.Equal(t, []record.DoubtCode{record.DoubtConnections}, codesIn(v), account(v))
			}
		})
	}
}

func used(p *play) string {
	a := p.launch("flaky", "")
	p.greet(a)
	p.ask(a)
	p.answer(a)
	return a
}

func TestDaemons(t *testing.T) {
	t.Parallel()
	const worker = 90
	for name, c := range map[string]struct {
		kind  record.HostKind
		sid   int
		mode  string
		exit  *record.Exit // unasked
		leaks bool
	}{
		"in a session of its own":    {kind: record.KindCommand, sid: worker, mode: "write"},
		"in the host's session":      {kind: record.KindCommand, sid: 20, mode: "write", leaks: true},
		"without a hold":             {kind: record.KindCommand, sid: worker, mode: "read", leaks: true},
		"a driver's":                 {kind: record.KindDriver, sid: worker, mode: "write", leaks: true},
		"the command exited with 0":  {kind: record.KindCommand, sid: 20, mode: "write", exit: &record.Exit{}},
		"the command failed":         {kind: record.KindCommand, sid: 20, mode: "write", exit: &record.Exit{Code: 1}, leaks: true},
		"a signal ended the command": {kind: record.KindCommand, sid: 20, mode: "write", exit: &record.Exit{Signal: "SIGKILL"}, leaks: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.run.Header.Host.Kind = c.kind
			id := record.Identity{PID: worker, Start: 9000}
			a := p.launch("flaky", "", worker)
			p.greet(a)
			p.helperAt(worker, record.Process{Identity: id, PPID: keeperPID, PGID: c.sid, SID: c.sid, State: "S", Comm: "worker"})
			p.examined(a, record.Holder{Identity: id, FD: 6, Mode: c.mode, Role: "worker"})
			if c.exit != nil {
				p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: c.exit})
			} else {
				p.stop("term", func() {})
			}
			p.restless("host gone", func() {})
			v := Judge(p.over(record.End{Reason: record.EndDone}))
			if c.leaks {
				assert.Equal(t, Leak, v.Outcome, account(v))
				return
			}
			assert.Equal(t, Inconclusive, v.Outcome, account(v))
			assert.Contains(t, codesIn(v), record.DoubtDaemon, account(v))
			assert.Equal(t, LawNotJudged, v.Laws[1].Status)
		})
	}
}

// inBackground is a command that leaves a worker that leads the session sid and
// has a server.
func inBackground(p *play, sid int) *record.Run {
	const worker = 90
	p.run.Header.Host.Kind = record.KindCommand
	id := record.Identity{PID: worker, Start: 9000}
	a := p.launch("flaky", "", worker)
	p.greet(a)
	p.helperAt(worker, record.Process{Identity: id, PPID: keeperPID, PGID: sid, SID: sid, State: "S", Comm: "worker"})
	p.examined(a, record.Holder{Identity: id, FD: 6, Mode: "write", Role: "worker"})
	p.stop("term", func() {})
	p.restless("host gone", nil)
	return p.over(record.End{Reason: record.EndDone})
}

// TestAServerLaunchedAhead is no ghost if its session is opened again and calls it.
func TestAServerLaunchedAhead(t *testing.T) {
	t.Parallel()
	for called, kinds := range map[bool][]string{true: {}, false: {"ghost"}} {
		p := newPlay()
		p.run.Header.System.OS = "linux"
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() { p.bye(a) })
		p.wait(300 * ms)
		b := p.launch("flaky", "s1")
		p.greet(b)
		st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
		p.session("s1", "flaky", record.SessionOpening, "", false)
		p.session("s1", "flaky", record.SessionOpen, "", false)
		p.end(st, "")
		if called {
			p.call(b, "s1", "flaky", "")
		}
		p.close("s1", "flaky", func() { p.bye(b) })
		p.clocked()
		p.quiet("after")
		v := Judge(p.done())
		assert.Equal(t, kinds, kindsIn(v), account(v))
	}
}

// ghost is a session that is closed, and gets a server after that.
func ghost(p *play, after time.Duration) *record.Run {
	p.run.Header.System.OS = "linux"
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.bye(a) })
	p.wait(after)
	b := p.launch("flaky", "s1")
	p.bye(b)
	p.clocked()
	p.quiet("after")
	return p.done()
}

// clocked gives the host and the servers so far start times that go with the
// run's clock.
func (p *play) clocked() {
	clock := map[int]uint64{}
	for i := range p.run.Events {
		e := &p.run.Events[i]
		start := uint64((time.Hour + time.Duration(e.T)) / (10 * ms))
		switch {
		case e.Kind == record.HostStarted:
			e.Process.Start = start
		case e.Kind == record.Born:
			row := p.procs[e.Birth.Identity]
			known := row.PID != 0
			delete(p.procs, e.Birth.Identity)
			clock[e.Birth.PID] = start
			e.Birth.Start, row.Start = start, start
			if p.ids[e.Server] = e.Birth.Identity; known {
				p.procs[e.Birth.Identity] = row
			}
		case e.Census != nil:
			for j := range e.Census.Processes {
				if row := &e.Census.Processes[j]; clock[row.PID] > 0 {
					row.Start = clock[row.PID]
				}
			}
		}
	}
}
