package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// processOf is the row of a server, in a state.
func processOf(s *history.Server, state record.State) record.Process {
	return record.Process{Identity: s.Birth.Identity, PPID: s.Birth.PPID, PGID: s.Birth.PGID, SID: s.Birth.SID, State: state, Comm: "leakbench"}
}

// starving are the looks of a run whose processes waited for processors: what is late by the clock alone is a doubt then.
func starving(p *play, waited int64) *casefile {
	for i := range 2 {
		w := record.Duration(int64(i) * waited)
		p.t += 10 * s
		p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample, Load: &record.Load{Waited: &w}}})
	}
	p.wait(100 * s)
	p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
	return open(p.run)
}

// TestWhatShowsThatALawWasKept: of L3 a bystander that lived does, of L2 a checkpoint after the host that came to rest in time.
func TestWhatShowsThatALawWasKept(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.launch("flaky", "s1")
	f := open(p.run)
	f.Header.Plan.Evidence = true
	assert.Equal(t, "no server of a session has worked", f.unshown("L3"))
	p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Process: &record.Process{PPID: keeperPID}, Exit: &record.Exit{}})
	f = open(p.run)
	f.Header.Plan.Evidence = true
	assert.Empty(t, f.unshown("L3"))
	for name, c := range map[string]struct {
		gone, quiet bool
		stretched   record.Duration
		shown       bool
	}{
		"in time":          {true, true, 0, true},
		"stretched":        {true, true, 1, false},
		"before the end":   {false, true, 1, true},
		"it was no rest":   {true, false, 1, true},
		"nothing was seen": {true, false, 0, true},
	} {
		cp := looked()
		cp.HostGone, cp.Quiet, cp.Stretched = c.gone, c.quiet, c.stretched
		f.Checkpoints = []*facts.Checkpoint{cp}
		assert.Equal(t, c.shown, f.unshown("L2") == "", name)
	}
}

// TestOldFingerprints are told in their order, each once, and not the one that the finding has.
func TestOldFingerprints(t *testing.T) {
	t.Parallel()
	was := func(kind string, cause record.Cause) *breach.Breach {
		return &breach.Breach{Law: "L1", Kind: "abandoned", Label: "flaky", Cause: record.CauseSessionClosed, Was: breach.Was{Kind: kind, Cause: cause}}
	}
	print := was("", "").Print()
	one, two := (&breach.Breach{Law: "L1", Kind: "superseded", Label: "flaky", Cause: "a"}).Print(), (&breach.Breach{Law: "L1", Kind: "superseded", Label: "flaky", Cause: "b"}).Print()
	if one > two {
		one, two = two, one
	}
	a, b, same := was("superseded", "a"), was("superseded", "b"), was("abandoned", record.CauseSessionClosed)
	assert.Equal(t, []string{one, two}, aliases([]*breach.Breach{a, b, a, same, was("", "")}, print))
	assert.Equal(t, []string{one, two}, aliases([]*breach.Breach{same, b, b, a}, print))
}

// TestWhoLooksTheSame tells for how many of a group the first one's story is told.
func TestWhoLooksTheSame(t *testing.T) {
	t.Parallel()
	for want, like := range map[string][]string{
		"":                              {"a"},
		"The other one looks the same.": {"a", "a"},
		"The other 1 differs; see the evidence on each.": {"a", "b"},
		"The other 2 look the same.":                     {"a", "a", "a"},
		"The other 2 differ; see the evidence on each.":  {"a", "b", "c"},
		"1 of the other 2 look the same.":                {"a", "a", "c"},
	} {
		var group []*breach.Breach
		for _, l := range like {
			group = append(group, &breach.Breach{Like: l})
		}
		assert.Equal(t, want, alike(group))
	}
}

// TestAdviceThatFits: a host that was killed can help neither a deaf server nor one that ignores SIGTERM; a breach's own advice goes first.
func TestAdviceThatFits(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	h := f.Host()
	h.AskedOp = record.OpKill
	fix := func(kind, own string) string {
		b := &breach.Breach{Law: "L2", Kind: kind, Label: "flaky", Cause: record.CauseHostKilled, Server: f.servers[0], Host: h, Fix: own}
		return f.finding(b.Print(), []*breach.Breach{b}).Fix
	}
	alone := fix("deaf", "")
	assert.Contains(t, alone, "A killed host can't clean up")
	assert.Equal(t, alone, fix("not-escalated", ""))
	assert.NotEqual(t, alone, fix("orphan", ""))
	assert.Contains(t, fix("orphan", ""), alone)
	assert.Equal(t, "do this", fix("orphan", "do this"))
}

// TestWhyNothingIsKept: a file that is torn, a run without an end, and one that was cut short show nothing.
func TestWhyNothingIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end       *record.End
		truncated string
		why       string
	}{
		"done":      {&record.End{Reason: record.EndDone}, "", ""},
		"torn":      {&record.End{Reason: record.EndDone}, "torn", "the file is not complete"},
		"no end":    {nil, "", "the file is not complete"},
		"cut short": {&record.End{Reason: record.EndInterrupted}, "", "the run was cut short"},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		if c.end != nil {
			p.over(*c.end)
		}
		p.run.Truncated = c.truncated
		assert.Equal(t, c.why, open(p.run).untested(), name)
	}
}

// TestARecycledPidOfNobody: the server whose pid it was need not be known.
func TestARecycledPidOfNobody(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	for _, server := range []string{"flaky#1", "flaky#9"} {
		p.add(record.Event{Kind: record.BystanderSeen, Server: server, Text: record.StandsRecycled, Process: &record.Process{}, Exit: &record.Exit{Signal: "SIGTERM"}})
	}
	f := open(p.run)
	f.judgeBystanders()
	require.Len(t, f.Breaches, 2)
	assert.Equal(t, "flaky", f.Breaches[0].Label)
	assert.Empty(t, f.Breaches[1].Label)
}

// TestABystanderOfAHostWithoutSessions: L3 is broken, and says why it tells no more.
func TestABystanderOfAHostWithoutSessions(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.launch("flaky", "")
	p.add(record.Event{Kind: record.BystanderSeen, Server: "flaky", Text: record.StandsAsTwin, Process: &record.Process{}, Exit: &record.Exit{Signal: "SIGTERM"}})
	v := Judge(p.done())
	require.Len(t, v.Findings, 1)
	l3 := v.Laws[2]
	assert.Equal(t, LawBroken, l3.Status)
	assert.Equal(t, "a bystander ended; the sessions are not known to the bench", l3.Found)
}

// TestWhatIsNotTheHostsDoing: the end of what an earlier life had launched, and what somebody else was seen to end.
func TestWhatIsNotTheHostsDoing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code   record.DoubtCode
		server string
		harmed bool
	}{
		"the host's":              {record.DoubtUnnamed, "flaky#1", true},
		"somebody else's":         {record.DoubtOutside, "flaky#1", false},
		"another server's killer": {record.DoubtOutside, "flaky#2", true},
	} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.call(a, "s1", "flaky", "")
		p.dead(a)
		p.add(record.Event{Kind: record.Doubted, Server: c.server, Doubt: &record.Doubt{Code: c.code, Text: "x"}})
		p.wait(100 * s)
		p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
		f := open(p.run)
		harm, _ := facts.HarmTo(f.servers[0])
		assert.Equal(t, c.harmed, f.isCollateral(f.servers[0], harm), name)
		assert.Equal(t, c.harmed, f.endedByHost(f.servers[0]), name)

		cp := looked()
		cp.Missing, cp.Wants = []record.Want{want("flaky", "s1", 1)}, []record.Want{want("flaky", "s1", 1)}
		f.missingAt(cp, map[string]bool{})
		assert.Equal(t, c.harmed, f.Broke("L3"), name)
		assert.True(t, f.Explained[cp], name)
	}
	p := newPlay()
	a := p.open("s1", "flaky")
	p.call(a, "s1", "flaky", "")
	p.restart(record.OpKill, nil)
	p.wait(10 * s)
	p.dead(a)
	p.wait(10 * s)
	p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
	f := open(p.run)
	harm, _ := facts.HarmTo(f.servers[0])
	require.True(t, f.OnWatch(harm.T))
	assert.False(t, f.isCollateral(f.servers[0], harm), "the life that launched it was over")
}

// TestWhatCameBeforeAndAfterAHarm: what is opened, asked or answered later has nothing to do with it.
func TestWhatCameBeforeAndAfterAHarm(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s1")
	a, b := f.servers[0], f.servers[1]
	a.Calls = []history.Call{{Received: 2 * second, Answered: 3 * second}}
	at := func(t int64, state record.SessionState) history.SessionChange {
		return history.SessionChange{Session: record.Session{State: state}, T: t}
	}
	changes := func(all ...history.SessionChange) { f.Session("flaky", "s1").Changes = all }
	for opening, worked := range map[int64]bool{4 * second: false, 5 * second: false, 5*second + 1: true} {
		changes(at(opening, record.SessionOpening))
		assert.Equal(t, worked, f.worked(a, 5*second), "%d", opening)
	}

	changes(at(6*second, record.SessionOpen))
	for died, without := range map[int64]bool{never: false, 6 * second: true, 6*second + 1: false} {
		b.Died = died
		assert.Equal(t, without, f.OpenWithout(a, 5*second), "%d", died)
	}

	b.Born = 6 * second
	changes()
	assert.Contains(t, f.renewal(a, 5*second), "The host launched flaky#2 for the session 1 s later, and nobody had asked it to open the session anew.")
	b.Label = "steady"
	assert.Empty(t, f.renewal(a, 5*second))

	assert.Equal(t, "2 s after its last answer", facts.LastWord(a, 5*second))
	a.Calls = append(a.Calls, history.Call{Received: 6 * second, Answered: 7 * second})
	assert.Equal(t, "2 s after its last answer", facts.LastWord(a, 5*second))
	assert.Equal(t, "before its first call", facts.LastWord(a, second))
	a.Calls = append(a.Calls, history.Call{Received: 4 * second, Answered: never})
	assert.Equal(t, "1 call in flight", facts.LastWord(a, 5*second))

	a.Calls = []history.Call{{Received: 4 * second, Answered: never}}
	failed := record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no"}
	for begun, cost := range map[int64]bool{5 * second: true, 5*second + 1: false} {
		stepIn(f, 0, failed, begun, 9*second)
		assert.Equal(t, cost, f.costAnAnswer(a, facts.Harm{Kind: "killed", T: 5 * second}), "%d", begun)
	}
}

// TestWhomACheckpointWants: the newest server that works, and not a probe that came after it.
func TestWhomACheckpointWants(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s1")
	a, b := f.servers[0], f.servers[1]
	cp := looked()
	cp.Wants = []record.Want{want("flaky", "s1", 1)}
	assert.Equal(t, []*history.Server{b}, f.wanted(cp, cp.Wants[0]))
	f.Session("flaky", "s1").Changes = nil
	b.EOF, b.Died = 2*second, 3*second
	require.True(t, f.Probe(b))
	assert.Equal(t, []*history.Server{a}, f.wanted(cp, cp.Wants[0]))
}

// TestWhereFlatLooks: at checkpoints that were completed while the host lived; what one of them explains stays explained.
func TestWhereFlatLooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(cp *facts.Checkpoint)
		looks  int
	}{
		"completed":     {func(*facts.Checkpoint) {}, 1},
		"host gone":     {func(cp *facts.Checkpoint) { cp.HostGone = true }, 0},
		"nobody looked": {func(cp *facts.Checkpoint) { cp.Settled = nil }, 0},
	} {
		f := opened("s1")
		cp := looked()
		c.change(cp)
		f.Checkpoints = []*facts.Checkpoint{cp}
		assert.Len(t, judgeFlat(f).Values, c.looks, name)
	}
	f := opened("s1", "s2")
	cp := looked(processOf(f.servers[0], record.StateSleeping))
	cp.Extra = f.servers
	f.Checkpoints = []*facts.Checkpoint{cp}
	judgeFlat(f)
	assert.Len(t, f.Breaches, 1, "of the second one there is the ledger's word alone")
	assert.True(t, f.Explained[cp])
	assert.False(t, f.vouched(cp, f.servers[1]))
	cp.ConfirmRows = history.RowsOf(&record.Census{Processes: []record.Process{processOf(f.servers[1], record.StateSleeping)}})
	assert.True(t, f.vouched(cp, f.servers[1]))
}

// TestOnlyWhatIsLateIsExcused: a starved machine makes servers, zombies and stops late, and keeps none of them for ever.
func TestOnlyWhatIsLateIsExcused(t *testing.T) {
	t.Parallel()
	for name, died := range map[string]int64{"late": 7 * second, "leaked": never} {
		p := newPlay()
		p.open("s1", "flaky")
		f := starving(p, 9*second)
		f.servers[0].Died = died
		cp := looked(processOf(f.servers[0], record.StateSleeping))
		cp.Extra = f.servers
		f.Checkpoints = []*facts.Checkpoint{cp}
		require.True(t, f.MayBeTheMachines(4*second, 7*second, f.Header.Limits.Settle.D()))
		judgeFlat(f)
		assert.Equal(t, name == "leaked", f.Broke("L1"), name)
		assert.Equal(t, name == "late", len(f.Unsure) == 1, name)
	}
	for name, reaped := range map[string]bool{"late": true, "never reaped": false} {
		p := newPlay()
		zombie := p.open("s1", "flaky")
		p.zombie(zombie)
		for i := range 2 { // a zombie at the end, too: nobody waits for it
			w, c := record.Duration(int64(i)*19*second), p.census()
			p.t += 10 * s
			c.Role, c.Load = record.CensusSample, &record.Load{Waited: &w}
			p.add(record.Event{Kind: record.CensusTaken, Census: c})
		}
		f := open(p.run)
		cp := looked(processOf(f.servers[0], record.StateZombie))
		cp.Confirm, cp.ConfirmRows, cp.ConfirmAt = cp.Settled, cp.SettledRows, 7*second
		if reaped {
			cp.Confirm, cp.ConfirmRows = &record.Census{}, nil
		}
		f.Checkpoints = []*facts.Checkpoint{cp}
		judgeReaped(f)
		assert.Equal(t, !reaped, f.Broke("L4"), name)
		assert.Equal(t, reaped, len(f.Unsure) == 1, name)
	}
	for op, broken := range map[record.Op]bool{record.OpStop: false, record.OpClose: true} {
		p := newPlay()
		p.open("s1", "flaky")
		f := starving(p, 19*second)
		stepIn(f, 0, record.Step{Op: op, Session: "s1", Label: "flaky", Error: "no end"}, 2*second, 18*second)
		judgeShutdown(f)
		assert.Equal(t, broken, f.Broke("L8"), op)
		assert.Equal(t, !broken, len(f.Unsure) == 1, op)
	}
}

// TestTheWordsOfASurvivor: its session, when it went, and what it holds are told where there is something to tell.
func TestTheWordsOfASurvivor(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	a, cp := f.servers[0], looked(processOf(opened("s1").servers[0], record.StateSleeping))
	assert.Equal(t, "flaky#1 (pid 101) of session s1: still running 4 s after the checkpoint began", f.flatBreach(cp, a).Value)
	a.Session = ""
	cp.Evidence = map[record.Identity]record.Evidence{a.Birth.Identity: {Process: processOf(a, record.StateSleeping)}}
	assert.Equal(t, "flaky#1 (pid 101): still running 4 s after the checkpoint began", f.flatBreach(cp, a).Value)
	a.Died = 20 * second
	assert.Equal(t, "flaky#1 (pid 101): still running 4 s after the checkpoint began, gone at +20 s", f.flatBreach(cp, a).Value)
	for told, kind := range map[int64]string{5*second - f.Blur(): "not-escalated", 5*second - f.Blur() + 1: ""} {
		a.EOF = told
		got, _ := f.flatHold(cp, a, nil)
		assert.Equal(t, kind, got, "%d: what it was told just now it may heed yet", told)
	}
	a.EOF = never
	a.Signals = []history.SignalMark{{T: 5 * second}}
	assert.True(t, signalled(a, 5*second))
	assert.False(t, signalled(a, 5*second-1))
}

// TestWhoTookItsPlace: a server that was broken was superseded after its fault, also where its session had ended before the next one
// came, and where the host tells nothing of sessions.
func TestWhoTookItsPlace(t *testing.T) {
	t.Parallel()
	ended := []history.SessionChange{
		{Session: record.Session{State: record.SessionEnded, Why: record.WhyClose}, T: 2 * second}, {Session: record.Session{State: record.SessionOpening}, T: 3 * second},
	}
	for name, c := range map[string]struct {
		changes []history.SessionChange
		broken  bool
		kind    string
		was     string
	}{
		"closed":         {ended, false, "abandoned", "superseded"},
		"broken":         {ended[1:], true, "superseded", ""},
		"broken, closed": {ended, true, "superseded", ""},
		"opened anew":    {ended[1:], false, "superseded", ""},
	} {
		f := opened("s1", "s1")
		a, b := f.servers[0], f.servers[1]
		b.Born, b.Established = 4*second, 4*second
		f.Session("flaky", "s1").Changes = c.changes
		if c.broken {
			a.Broken, a.Faults = 3*second, []history.FaultMark{{T: 3 * second, Fault: hangs.Fault}}
		}
		l := f.loss(looked(), a)
		assert.Equal(t, c.kind, l.kind, name)
		assert.Equal(t, c.was, l.was.Kind, name)
		if c.broken {
			assert.Equal(t, record.CauseAfterFault(&hangs.Fault), l.cause, name)
		}
	}
	silent := func(gap int64, broken bool) (*casefile, *history.Server, *history.Server) {
		p := newPlay()
		p.greet(p.launch("flaky", ""))
		p.greet(p.launch("flaky", ""))
		f := open(p.run)
		require.True(t, f.TellsNothing())
		a, b := f.servers[0], f.servers[1]
		b.Born = a.Born + gap
		if broken {
			a.Broken, a.Faults = b.Born, []history.FaultMark{{T: b.Born, Fault: hangs.Fault}}
		}
		return f, a, b
	}
	f, a, b := silent(1, false)
	assert.False(t, f.isDuplicate(a, b), "whoever tells nothing may want both")
	assert.Equal(t, "abandoned", f.loss(looked(), a).kind)
	f, a, _ = silent(second, true)
	assert.Equal(t, "superseded", f.loss(looked(), a).kind)
}

// TestWhichServersAreInUse: of a command host, one that was called since the next one was launched may be.
func TestWhichServersAreInUse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		received int64
		in       bool
	}{
		"since the next one": {3*second + 1, true},
		"before it":          {3 * second, false},
	} {
		f := opened("s1", "s1")
		f.Header.Host.Kind = record.KindCommand
		a, b := f.servers[0], f.servers[1]
		b.Born = 3 * second
		f.Session("flaky", "s1").Changes = []history.SessionChange{{Session: record.Session{State: record.SessionOpening}, T: 2 * second}}
		a.Calls = []history.Call{{Received: c.received, Answered: c.received + 1}}
		assert.Equal(t, c.in, f.isConnection(looked(), a), name)
		assert.Equal(t, map[bool]int{true: 1}[c.in], f.Connections, name)
	}
	srv := opened("s1").servers[0]
	srv.Calls = []history.Call{{Received: second, Answered: 2 * second}}
	for died, lives := range map[int64]bool{never: true, 5 * second: false, 5*second + 1: true} {
		srv.Died = died
		assert.Equal(t, lives, answered(srv, 5*second), "%d", died)
	}
	assert.False(t, answered(srv, 2*second-1), "it had answered nothing yet")
}

// TestStraysAreNamed by what they were to a server.
func TestStraysAreNamed(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	a := f.servers[0]
	a.Died = 2 * second
	for part, c := range map[history.Part]struct{ kind, says string }{
		history.PartLauncher: {"launcher", "It is the launcher of flaky#1, which was gone at +2 s."},
		history.PartHelper:   {"helper", "flaky#1, or what had launched it, had started it. flaky#1 was gone at +2 s."},
	} {
		b := f.strayBreach(looked(), history.Stray{Process: record.Process{Identity: record.Identity{PID: 77}, Comm: "sh"}, Attribution: history.Attribution{Part: part, Server: a}})
		assert.Equal(t, c.kind, b.Kind)
		assert.Contains(t, b.Narrative, c.says)
	}
}
