package verdict

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// stoppedAt is a look that shows a server stopped.
func stoppedAt(p *play, server string) {
	row := p.procs[p.ids[server]]
	row.State = record.StateStopped
	p.procs[p.ids[server]] = row
	p.look(record.CensusSample, "")
}

// TestADeathWithoutAWordOnAStarvedMachine: the server may have been told, and not have got round to it. That is a doubt of a host that
// was asked to end it, and that was on watch; one whose faults or whose being stopped kept it from seeing it shows nothing.
func TestADeathWithoutAWordOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(f *casefile, s *history.Server)
		stopped bool
		excused int
	}{
		"asked":        {func(*casefile, *history.Server) {}, false, 1},
		"nobody asked": {func(f *casefile, _ *history.Server) { f.Session("flaky", "s1").Changes = nil }, false, 0},
		"with a fault": {func(_ *casefile, s *history.Server) {
			s.Faults = []history.FaultMark{{Fault: record.Fault{Do: "ignore"}}}
		}, false, 0},
		"it was stopped": {func(*casefile, *history.Server) {}, true, 0},
		"the host ended": {func(f *casefile, _ *history.Server) { f.Host().AskedAt = 13 * second }, false, 0},
	} {
		p := newPlay()
		a := p.open("s1", "flaky")
		if c.stopped {
			stoppedAt(p, a)
		}
		f := starving(p, 9*second)
		f.Header.Limits.Grace = record.Duration(2 * s)
		srv := f.servers[0]
		srv.Died = 15 * second
		f.Session("flaky", "s1").Changes = []history.SessionChange{{Session: record.Session{State: record.SessionEnding}, T: 12 * second}}
		c.change(f, srv)
		r := judgeGraceful(f)
		assert.Len(t, f.Unsure, c.excused, name)
		assert.Contains(t, r.Reason, "may have been asked without getting to it", name)
		assert.Equal(t, f.unheeding(srv, 2*second), name != "it was stopped" && name != "with a fault", "%s: it had 13 s", name)
	}
}

// TestWhatIsCertainIsJudged: that of some servers it can't be told how they were ended does not excuse those of which it can. What was
// signalled at the end of its stdin is rude where the host is rude to others.
func TestWhatIsCertainIsJudged(t *testing.T) {
	t.Parallel()
	p := newPlay()
	for n := range 4 {
		p.open(fmt.Sprintf("s%d", n), "flaky")
	}
	f := starving(p, 9*second)
	f.Header.Limits.Grace = record.Duration(2 * s)
	rude, silent, together, unclear := f.servers[0], f.servers[1], f.servers[2], f.servers[3]
	unclear.Signals, unclear.EOF, unclear.Died, unclear.Bye = []history.SignalMark{{T: 15 * second, Text: "SIGTERM"}}, 16*second, 17*second, 17*second
	rude.Signals, rude.Died = []history.SignalMark{{T: 12 * second, Text: "SIGTERM", Stdin: record.StdinOpen}}, 13*second
	silent.Died = 15 * second
	f.Session("flaky", "s1").Changes = []history.SessionChange{{Session: record.Session{State: record.SessionEnding}, T: 12 * second}}
	together.Signals, together.EOF, together.Died = []history.SignalMark{{T: 15 * second, Text: "SIGTERM", Stdin: record.StdinClosed}}, 15*second, 16*second
	r := judgeGraceful(f)
	assert.Empty(t, r.Reason)
	assert.Equal(t, "4 servers ended by the host, 2 of them out of order", r.Found)
}

// TestWhomTheHostDidNotEnd: those that nothing was done to, and those that the bench swept.
func TestWhomTheHostDidNotEnd(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a, b := p.open("s1", "flaky"), p.open("s2", "flaky")
	p.open("s3", "flaky")
	p.dead(a)
	swept := p.census()
	swept.Processes = swept.Processes[:1]
	p.add(record.Event{Kind: record.Swept, Census: swept})
	p.dead(b)
	p.over(record.End{Reason: record.EndInterrupted})
	f := open(p.run)
	assert.True(t, f.endedByHost(f.servers[0]))
	assert.False(t, f.endedByHost(f.servers[1]), "the bench swept it")
	assert.False(t, f.endedByHost(f.servers[2]), "it lives")
}

// TestTimeToBeRudeIn: without a grace nothing is too early, and a signal in the first moments of a run was not asked for.
func TestTimeToBeRudeIn(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	f := starving(p, 0)
	srv := f.servers[0]
	f.Host().AskedAt, srv.Died = 12*second, 13*second
	require.True(t, f.unheeding(srv, 12*second))
	assert.Nil(t, f.rudeness(srv), "no grace is asked for")
	f.Header.Limits.Grace = record.Duration(2 * s)
	assert.NotNil(t, f.rudeness(srv))

	f = opened("s1")
	srv = f.servers[0]
	f.Header.Limits.Grace = record.Duration(2 * s)
	srv.Signals, srv.EOF, srv.Died, srv.Bye = []history.SignalMark{{T: int64(20 * ms), Stdin: record.StdinClosed}}, int64(20*ms), int64(30*ms), int64(29*ms)
	assert.Nil(t, f.rudeness(srv))
}

// TestTooSoonIsTooSoon: a server that was killed within its grace of the first time that the host was asked had no time on any machine.
func TestTooSoonIsTooSoon(t *testing.T) {
	t.Parallel()
	look := func(p *play, at, delayed int64) {
		p.run.Events = append(p.run.Events, record.Event{Seq: int64(len(p.run.Events) + 1), T: at, Kind: record.CensusTaken, Census: &record.Census{
			Role: record.CensusSample, Load: &record.Load{Ran: record.Duration(delayed / 9), Delayed: record.Duration(delayed)},
		}})
	}
	for first, excused := range map[int64]bool{5 * second: false, 4 * second: true} {
		p := newPlay()
		p.open("s1", "flaky")
		look(p, second, 0)
		look(p, 20*second, 18*second)
		f := open(p.run)
		f.Header.Limits.Grace = record.Duration(2 * s)
		srv := f.servers[0]
		srv.EOF, srv.Died = 6*second, 6*second+second/2
		at := func(t int64) history.SessionChange {
			return history.SessionChange{Session: record.Session{State: record.SessionEnding}, T: t}
		}
		f.Session("flaky", "s1").Changes = []history.SessionChange{at(first), at(6 * second)}
		require.Greater(t, f.Slowdown(6*second, srv.Died), 1.0)
		assert.Equal(t, excused, f.mayHaveHadTime(srv, &breach.Breach{Kind: "cleanup-cut-short"}), "%d", first)
	}
}

// TestAtOnceOnAStarvedMachine: a signal that was caught later than a moment after the end of stdin may have been sent with it.
func TestAtOnceOnAStarvedMachine(t *testing.T) {
	t.Parallel()
	for after, together := range map[int64]bool{9*second + second/2 - 1: true, 9*second + second/2: false} {
		p := newPlay()
		p.open("s1", "flaky")
		f := starving(p, 9*second)
		f.Header.Limits.Grace = record.Duration(2 * s)
		srv := f.servers[0]
		srv.EOF, srv.Signals = 10*second+second/2, []history.SignalMark{{T: 10*second + second/2 + after, Stdin: record.StdinClosed}}
		assert.Equal(t, together, f.togetherAt(srv) >= 0, "%d", after)
	}
}

// TestHandlesOfAHostThatWasNotSeen are not the system's fault.
func TestHandlesOfAHostThatWasNotSeen(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	f.Cycles = []*facts.Cycle{{}}
	assert.Contains(t, f.noHandles(), "1 repetition of the scenario")
	f.Cycles[0].Host = &record.Process{}
	assert.Equal(t, "the host's descriptors can't be counted on this system", f.noHandles())
}

// TestWhereLeftLooks: at checkpoints after the host's end, and at those of its later lives for what the earlier ones left.
func TestWhereLeftLooks(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.wait(s)
	p.restart(record.OpKill, nil)
	p.wait(100 * s)
	p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
	for name, c := range map[string]struct {
		change func(cp *facts.Checkpoint)
		values []string
	}{
		"after the end":   {func(cp *facts.Checkpoint) { cp.HostGone = true }, []string{"after: 0 processes left"}},
		"in a later life": {func(*facts.Checkpoint) {}, []string{"after: 0 processes left by an earlier life of the host"}},
		"in the first":    {func(cp *facts.Checkpoint) { cp.Begun = second / 2 }, nil},
		"nobody looked":   {func(cp *facts.Checkpoint) { cp.HostGone, cp.Settled = true, nil }, nil},
	} {
		f, cp := open(p.run), looked()
		c.change(cp)
		f.Checkpoints = []*facts.Checkpoint{cp}
		r := judgeLeft(f)
		assert.Equal(t, c.values, r.Values, name)
		assert.Equal(t, c.values == nil, r.Reason != "", name)
		assert.False(t, f.Explained[cp], "%s: nothing was left that explains anything", name)
	}
}

// TestWhatACommandLeft is told once: where L1 has told of it, the end of the bench's own scheduler adds nothing.
func TestWhatACommandLeft(t *testing.T) {
	t.Parallel()
	for kind, left := range map[record.HostKind]int{record.KindOneshot: 1, record.KindDriver: 3} {
		f := opened("s1", "s2")
		f.Header.Host.Kind = kind
		helper := record.Process{Identity: record.Identity{PID: 77, Start: 7}, State: record.StateSleeping, Comm: "sleep"}
		cp := looked(processOf(f.servers[0], record.StateSleeping), processOf(f.servers[1], record.StateSleeping), helper)
		cp.HostGone = true
		f.Checkpoints = []*facts.Checkpoint{cp}
		f.Breaches = []*breach.Breach{{Law: "L1", Server: f.servers[0]}, {Law: "L1", Process: helper.Identity}, {Law: "L4", Server: f.servers[1]}}
		judgeLeft(f)
		n := 0
		for _, b := range f.Breaches {
			if b.Law == "L2" {
				n++
			}
		}
		assert.Equal(t, left, n, kind)
	}
}

// daemonised is a command whose process went to the background with a server, and what else was left.
func daemonised(more ...record.Process) (*casefile, *facts.Checkpoint) {
	f := opened("s1", "s2")
	f.Header.Host.Kind = record.KindCommand
	h := f.Host()
	h.Exited = 2 * second
	daemon := record.Process{Identity: record.Identity{PID: 50, Start: 5}, PPID: 1, SID: 50, State: record.StateSleeping, Comm: "host"}
	server := processOf(f.servers[0], record.StateSleeping)
	server.PPID = 50
	cp := looked(append([]record.Process{daemon, server}, more...)...)
	cp.HostGone = true
	cp.Evidence = map[record.Identity]record.Evidence{server.Identity: {Process: server, Descriptors: []record.Descriptor{
		{FD: 0, Mode: "read", Known: true, Holders: []record.Holder{{Identity: daemon.Identity, FD: 5, Mode: "write"}}},
	}}}
	f.Checkpoints = []*facts.Checkpoint{cp}
	return f, cp
}

// TestADaemonExcusesItselfAlone: what it controls is not left, what stands beside it is, and a server that holds another one's stdin is
// no daemon.
func TestADaemonExcusesItselfAlone(t *testing.T) {
	t.Parallel()
	f, cp := daemonised()
	r := judgeLeft(f)
	assert.Equal(t, "the host went to the background, where it was not asked to exit", r.Reason)
	assert.True(t, f.Explained[cp])

	other := record.Process{Identity: record.Identity{PID: 60, Start: 6}, PPID: 60, State: record.StateSleeping, Comm: "helper"} // its own parent: no row is trusted
	f, _ = daemonised(other)
	r = judgeLeft(f)
	assert.Empty(t, r.Reason, "a leak is a leak")
	assert.True(t, f.Broke("L2"))

	f, cp = daemonised()
	holds := processOf(f.servers[1], record.StateSleeping)
	holds.SID = holds.PID
	left := append(cp.Settled.Processes[1:2:2], holds)
	cp.Evidence[f.servers[0].Birth.Identity].Descriptors[0].Holders[0].Identity = holds.Identity
	assert.Len(t, f.lessDaemon(cp, f.Host(), left), 2)
	assert.Empty(t, f.Daemons)
}

// TestTheWordsOfWhatWasLeft: a server that launched another is no launcher of it, and what nobody examined has no state.
func TestTheWordsOfWhatWasLeft(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s2")
	f.servers[1].Birth.PPID = f.servers[0].Birth.PID
	cp := looked(processOf(f.servers[0], record.StateSleeping))
	cp.HostGone = true
	assert.NotContains(t, f.leftBreach(cp, cp.Settled.Processes[0]).Narrative, "It is the launcher of")
	unseen := f.leftBreach(cp, processOf(f.servers[0], record.StateUnknown)).Narrative
	seen := f.leftBreach(cp, processOf(f.servers[0], record.StateSleeping)).Narrative
	assert.Contains(t, unseen, "could not be examined", "the ledger alone knows of it")
	assert.NotContains(t, seen, "could not be examined")
	stopped := &record.Evidence{Process: processOf(f.servers[0], record.StateStopped)}
	assert.Equal(t, "stopped", f.leftKind(f.servers[0], stopped.Process, stopped, true, 8*second), "it can't use a processor, whatever it used before")
}

// TestGrowthAtTheLimit is within it.
func TestGrowthAtTheLimit(t *testing.T) {
	t.Parallel()
	for limit, broken := range map[int64]bool{1 << 20: false, 1<<20 - 1: true} {
		f := opened("s1")
		f.Header.Limits.GrowthPerCycle = limit
		curve := facts.Curve{}
		for n := range int64(9) {
			curve.N, curve.At, curve.Values = append(curve.N, int(n)), append(curve.At, n), append(curve.Values, n<<20)
		}
		f.memory(&LawResult{}, curve, &breach.Breach{Kind: "host-growth"}, "the host")
		assert.Equal(t, broken, f.Broke("L6"), "%d", limit)
	}
}

// TestZombiesThatLast: one that was there at both looks, or long enough before the first; each is told with its parent.
func TestZombiesThatLast(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	a := f.servers[0]
	a.Died = 5*second - 1
	for state, outlasts := range map[record.State]bool{record.StateZombie: true, record.StateSleeping: false} {
		cp := looked(processOf(a, record.StateZombie))
		cp.ConfirmRows = history.RowsOf(&record.Census{Processes: []record.Process{processOf(a, state)}})
		assert.Equal(t, outlasts, f.outlasts(cp, processOf(a, record.StateZombie)), state)
	}
	a.Died = 2 * second
	row := processOf(a, record.StateZombie)
	cp := looked(row)
	b := f.zombieBreach(cp, row)
	assert.Equal(t, "host", b.Like)
	assert.Equal(t, "zombie", b.Was.Kind, "the checkpoint had no second look that could have shown it waited for")
	row.PPID = 77
	assert.Equal(t, "another process", f.zombieBreach(cp, row).Like)

	f.Explained[cp] = true
	cp.Settled.Processes[0].PPID = hostPID
	a.Died = 5*second - 1 // of the very moment: no zombie that counts
	f.Checkpoints = []*facts.Checkpoint{cp}
	judgeReaped(f)
	assert.False(t, f.Broke("L4"))
	assert.True(t, f.Explained[cp], "what another law explains stays explained")
}

// TestWhoWaitedForAZombie: the host, as a later look of the same life shows. What a later life, or the bench, cleaned up shows nothing.
func TestWhoWaitedForAZombie(t *testing.T) {
	t.Parallel()
	build := func(restart, cut bool) (*casefile, record.Process) {
		p := newPlay()
		p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Process: &record.Process{PPID: keeperPID}, Exit: &record.Exit{Signal: "SIGKILL"}})
		p.open("s1", "flaky")
		p.t = 10 * s
		if restart {
			p.restart(record.OpKill, nil)
		}
		if cut {
			p.begin(record.Step{Op: record.OpStop})
		}
		p.t = 20 * s
		p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
		if cut {
			p.over(record.End{Reason: record.EndInterrupted})
		}
		f := open(p.run)
		return f, processOf(f.servers[0], record.StateZombie)
	}
	for name, c := range map[string]struct{ restart, cut, gone bool }{
		"the host": {false, false, true}, "a later life": {true, false, false}, "the bench": {false, true, false},
	} {
		f, row := build(c.restart, c.cut)
		_, gone := f.reapedLater(looked(row), row)
		assert.Equal(t, c.gone, gone, name)
	}
	p := newPlay()
	p.add(record.Event{Kind: record.Reaped, Text: record.StandsAsTwin, Process: &record.Process{PPID: keeperPID}, Exit: &record.Exit{}})
	f := open(p.run)
	assert.False(t, f.belowKeeper(f.Host()), "that is no twin")
}

// TestACrashBesideAFault: both are told. A close that fails for want of a session is not blamed on the open.
func TestACrashBesideAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op     record.Op
		fault  bool
		found  string
		blamed bool
	}{
		"no fault":       {record.OpCall, false, "the host crashed", false},
		"an open failed": {record.OpOpen, true, "1 session opened after it, 1 failed; the host crashed", true},
		"a call failed":  {record.OpCall, true, "0 sessions opened after it, 0 failed; the host crashed", false},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		p.wait(50 * s)
		p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 7}})
		f := open(p.run)
		if c.fault {
			f.servers[0].Faults = []history.FaultMark{hangs}
		}
		stepIn(f, 0, record.Step{Op: c.op, Session: "s1", Label: "flaky", Error: "no"}, 6*second, 7*second)
		r := judgeRecovers(f)
		assert.Equal(t, c.found, r.Found, name)
		assert.Empty(t, r.Reason, name)
		assert.Equal(t, c.blamed, f.Blamed[1], name)
	}
	f := opened("s1", "s1")
	f.servers[0].Faults = []history.FaultMark{hangs}
	stepIn(f, 0, record.Step{Op: record.OpOpen, Session: "s1", Label: "flaky", Error: "no"}, 6*second, 7*second)
	for op, blamed := range map[record.Op]bool{record.OpCall: true, record.OpClose: false} {
		stepIn(f, 1, record.Step{Op: op, Session: "s1", Label: "flaky", Error: "no"}, 8*second, 9*second)
		f.Blamed[2] = false
		judgeRecovers(f)
		assert.Equal(t, blamed, f.Blamed[2], op)
	}
}

// TestWhichLifeCrashed is told where there were several.
func TestWhichLifeCrashed(t *testing.T) {
	t.Parallel()
	one := opened("s1")
	one.Host().Exited = 5 * second
	p := newPlay()
	p.open("s1", "flaky")
	p.restart(record.OpKill, nil)
	two := open(p.run)
	first := two.Hosts()[0]
	first.Exit, first.AskedAt, first.AskedOp = record.Exit{}, never, ""
	assert.NotEqual(t, one.crashBreach(one.Host()).Narrative, two.crashBreach(first).Narrative)
	assert.Contains(t, two.crashBreach(first).Narrative, "Life 1 of the host")
}

// TestALockoutThatIsNone: the breaking fault has to be the lock's, a server does not lock itself out, and what was blamed stays blamed.
func TestALockoutThatIsNone(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s1")
	o, s := f.servers[0], f.servers[1]
	o.Faults, s.Faults = []history.FaultMark{holdsIt}, []history.FaultMark{hangs}
	assert.Zero(t, f.judgeHeld(), "it broke for another reason")
	at, _ := lockedOut(s)
	assert.Equal(t, never, at)
	o.Faults, s.Faults = nil, []history.FaultMark{holdsIt, lockout}
	assert.Empty(t, f.lockedOut(s))

	o.Faults = []history.FaultMark{holdsIt}
	failed := record.Step{Op: record.OpOpen, Session: "s1", Label: "flaky", Error: "no"}
	stepIn(f, 0, failed, 4*second, 6*second)
	stepIn(f, 1, failed, 7*second, 8*second).Skipped = true
	f.Blamed[2] = true
	assert.Equal(t, 1, f.judgeHeld())
	assert.Equal(t, map[int]bool{1: true, 2: true}, f.Blamed)
}

// TestWhichStepsMustEnd: a command with a limit that has ended, a close, a stop. What failed beside a call that hung is accounted for.
func TestWhichStepsMustEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit record.Duration
		ended int64
		found string
	}{
		"a command":      {record.Duration(s), 6 * second, "one, which took 0 s"},
		"of no limit":    {0, 6 * second, ""},
		"without an end": {record.Duration(s), never, ""},
	} {
		f := opened("s1")
		stepIn(f, 0, record.Step{Op: record.OpJob, Label: "flaky", Limit: c.limit, OK: true}, 5*second, c.ended)
		r := judgeShutdown(f)
		assert.Equal(t, c.found, r.Found, name)
		assert.Equal(t, c.found == "", r.Reason != "", name)
	}
	f := opened("s1", "s1", "s2")
	call := record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no", Limit: record.Duration(s)}
	stepIn(f, 0, call, 5*second, 50*second)
	call.Limit = 0
	stepIn(f, 1, call, 51*second, 52*second)
	call.Session = "s2"
	stepIn(f, 2, call, 51*second, 52*second)
	judgeShutdown(f)
	assert.Equal(t, map[int]bool{1: true, 2: true}, f.Blamed)
}

// TestSlowEndsAreToldApart: only of a host that does not stop, one breach has the cause of the other.
func TestSlowEndsAreToldApart(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s2")
	stepIn(f, 0, record.Step{Op: record.OpStop, OK: true}, 5*second, 50*second)
	stepIn(f, 1, record.Step{Op: record.OpTerm, OK: true}, 51*second, 99*second)
	judgeShutdown(f)
	require.Len(t, f.Breaches, 2)
	assert.NotEqual(t, f.Breaches[0].Cause, f.Breaches[1].Cause, "it does stop, in either way")
	for op, causes := range map[record.Op]int{record.OpClose: 2, record.OpStop: 1} {
		f := opened("s1", "s2")
		stepIn(f, 0, record.Step{Op: op, Session: "s1", Label: "flaky", Error: "no"}, 5*second, 50*second)
		next := record.Step{Op: record.OpTerm, Session: "s1", Label: "flaky", Error: "no"}
		if op == record.OpClose {
			next.Op, next.Limit = record.OpCall, record.Duration(s)
		}
		stepIn(f, 1, next, 51*second, 99*second)
		judgeShutdown(f)
		require.Len(t, f.Breaches, 2, op)
		seen := map[record.Cause]bool{}
		for _, b := range f.Breaches {
			seen[b.Cause] = true
		}
		assert.Len(t, seen, causes, op)
	}
}

// TestTheStoryOfASlowClose: what went on after the last server had gone; a server that outlived the close is none that had.
func TestTheStoryOfASlowClose(t *testing.T) {
	t.Parallel()
	story := func(died int64) string {
		f := opened("s1")
		f.servers[0].Died = died
		return f.shutdownNarrative(stepIn(f, 0, record.Step{Op: record.OpClose, Session: "s1", Label: "flaky"}, 5*second, 9*second))
	}
	assert.Contains(t, story(6*second), "The close went on for 3 s after that")
	assert.NotContains(t, story(10*second), "went on")
	assert.Contains(t, story(5*second), "The close went on for 4 s after that")
	d := &description{values: map[string]string{}}
	describeShutdown(opened("s1"), []*breach.Breach{{Kind: "hung-stop", Step: &history.Step{Step: record.Step{Op: record.OpStop}}}}, d)
	assert.Empty(t, d.values["of"], "a host's end is of no server")
}

// TestTheStoryOfAHungCommand has each process below it, in its own words, and is another where one of them is in another state.
func TestTheStoryOfAHungCommand(t *testing.T) {
	t.Parallel()
	itself := record.StateSleeping
	hung := func(states ...record.State) *breach.Breach {
		f := opened("s1")
		keeps := []record.Evidence{{Process: record.Process{Identity: record.Identity{PID: 50}, Args: []string{"host", "run"}, State: itself}}}
		for i, state := range states {
			keeps = append(keeps, record.Evidence{Process: record.Process{Identity: record.Identity{PID: 61 + i}, Comm: fmt.Sprintf("below%d", i), State: state}})
		}
		st := stepIn(f, 0, record.Step{Op: record.OpJob, Label: "flaky"}, 5*second, 6*second)
		st.Keeps = keeps
		f.judgeCommand(st)
		return f.Breaches[0]
	}
	two := hung(record.StateSleeping, record.StateStopped)
	assert.NotEqual(t, hung(record.StateSleeping).Narrative, two.Narrative)
	assert.NotEqual(t, hung(record.StateSleeping, record.StateSleeping).Narrative, two.Narrative)
	assert.NotEqual(t, hung(record.StateSleeping, record.StateSleeping).Like, two.Like)
	assert.NotEqual(t, hung(record.StateStopped, record.StateSleeping).Like, two.Like)
	itself = record.StateStopped
	assert.NotEqual(t, hung(record.StateSleeping, record.StateStopped).Like, two.Like)
}

// TestTheStoryOfLaunches: how far apart they were, and the commonest fault, by its name among equals.
func TestTheStoryOfLaunches(t *testing.T) {
	t.Parallel()
	p := newPlay()
	for _, at := range []int64{0, 9, 10, 12} {
		p.t = (10 + time.Duration(at)) * s
		p.launch("flaky", "s1")
	}
	p.run.Header.Limits.SpawnsPerSession, p.run.Header.Limits.SpawnsPerMinute = 2, 3
	v := Judge(p.done())
	var titles, values, whys []string
	for _, f := range v.Findings {
		if f.Law == "L7" {
			titles, values, whys = append(titles, f.Title+f.Expected), append(values, f.Values...), append(whys, f.Why)
		}
	}
	require.Len(t, titles, 2)
	assert.Contains(t, fmt.Sprint(values), "4 launches within 12 s, 3 a minute allowed")
	assert.Contains(t, whys[0], "half of them within 2 s of the previous one")
	assert.Contains(t, fmt.Sprint(titles), "2 launches")
	assert.Contains(t, fmt.Sprint(titles), "3 launches")
	counts := map[string]int{"z": 2}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		counts[name] = 1
	}
	name, n := mostOf(counts)
	assert.Equal(t, "z", name)
	assert.Equal(t, 2, n)
	delete(counts, "z")
	name, _ = mostOf(counts)
	assert.Equal(t, "a", name)
}

// TestNewJudged has the verdict of its run.
func TestNewJudged(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	j := NewJudged(p.done(), "there")
	assert.Equal(t, "there", j.Dir)
	assert.Equal(t, Judge(j.Run), j.Verdict)
	assert.Equal(t, Clean, j.Verdict.Outcome)
}
