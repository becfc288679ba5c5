package facts

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// TestHowTheHostAndTheRunEnded: unasked is an end before the host was asked, cut short a run with an end that is not done.
func TestHowTheHostAndTheRunEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exited, asked int64
		said          bool
		unasked       bool
	}{
		"alive":            {never, never, false, false},
		"by itself":        {5, never, false, true},
		"before the order": {5, 6, false, true},
		"after the order":  {6, 6, false, false},
		"said to be asked": {5, never, true, false},
	} {
		h := &history.Host{Exited: c.exited, AskedAt: c.asked, Exit: record.Exit{Asked: c.said}}
		assert.Equal(t, c.unasked, EndedUnasked(h), name)
	}
	over := func(reason record.EndReason) record.Event {
		return at(9*sec, record.Event{Kind: record.Ended, End: &record.End{Reason: reason}})
	}
	assert.False(t, Of(runOf()).CutShort())
	assert.False(t, Of(runOf(over(record.EndDone))).CutShort())
	assert.True(t, Of(runOf(over(record.EndInterrupted))).CutShort())

	exited := at(5*sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
	f := Of(runOf(exited))
	assert.True(t, f.HostAlive(5*sec-1))
	assert.False(t, f.HostAlive(5*sec))
	assert.True(t, Of(runOf()).HostAlive(9*sec))
	assert.Equal(t, 6*sec, f.NotedBy(5*sec))
}

// TestAHostThatIsNowhere: it could not be put where the scenario wants it, or its servers could not reach the ledger, and none was seen.
func TestAHostThatIsNowhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code    record.DoubtCode
		servers bool
		nowhere bool
	}{
		"no place":        {record.DoubtNoPlace, false, true},
		"no ledger":       {record.DoubtLedgerNoAccess, false, true},
		"another doubt":   {record.DoubtUnnamed, false, false},
		"a server is up":  {record.DoubtNoPlace, true, false},
		"one, and no one": {record.DoubtLedgerNoAccess, true, false},
	} {
		events := []record.Event{at(ms, record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: c.code, Text: "x"}})}
		if c.servers {
			events = append(events, born(2*ms, "flaky#1", "s1", 31, host))
		}
		assert.Equal(t, c.nowhere, Of(runOf(events...)).Nowhere(), name)
	}
	assert.False(t, Of(runOf()).Nowhere(), "it has launched none yet")
}

// TestSignalsBeforeTheEndOfStdin: the first one counts, if stdin was open then.
func TestSignalsBeforeTheEndOfStdin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signals []history.SignalMark
		eof     int64
		first   bool
	}{
		"none":            {nil, never, false},
		"no end":          {[]history.SignalMark{{T: 5, Stdin: record.StdinOpen}}, never, true},
		"before the end":  {[]history.SignalMark{{T: 5, Stdin: record.StdinOpen}, {T: 7, Stdin: record.StdinClosed}}, 6, true},
		"after the end":   {[]history.SignalMark{{T: 5, Stdin: record.StdinOpen}}, 4, false},
		"stdin was ended": {[]history.SignalMark{{T: 5, Stdin: record.StdinClosed}}, never, false},
	} {
		s := untouched(0)
		s.Signals, s.EOF = c.signals, c.eof
		mark, first := SignalFirst(&s)
		assert.Equal(t, c.first, first, name)
		if len(c.signals) > 0 {
			assert.Equal(t, c.signals[0], mark, name)
		}
	}
}

// TestWhyASessionWasOpenedAnew between two births: for a reload, or for whatever else.
func TestWhyASessionWasOpenedAnew(t *testing.T) {
	t.Parallel()
	opening := func(t int64, why record.Why) record.Event {
		e := change(t, record.SessionOpening)
		e.Session.Why = why
		return e
	}
	for name, c := range map[string]struct {
		first, between, last []record.Event
		why                  record.Cause
	}{
		"it was not":       {[]record.Event{opening(0, "")}, nil, nil, ""},
		"it was":           {nil, []record.Event{opening(3*sec, "")}, nil, record.CauseReconnect},
		"for a reload":     {nil, []record.Event{opening(3*sec, record.WhyReload)}, nil, record.CauseReload},
		"it was but used":  {nil, []record.Event{change(3*sec, record.SessionOpen)}, nil, ""},
		"after the second": {nil, nil, []record.Event{opening(6*sec, "")}, ""},
	} {
		events := append(append(c.first, born(sec, "flaky#1", "s1", 31, host)), c.between...)
		f := Of(runOf(append(append(events, born(5*sec, "flaky#2", "s1", 32, host)), c.last...)...))
		assert.Equal(t, c.why, f.OpenedAnew(f.Server("flaky#1"), f.Server("flaky#2")), name)
	}
}

// TestHowAJobEnded: in time, cut off by its host's limit, or cancelled in a call.
func TestHowAJobEnded(t *testing.T) {
	t.Parallel()
	ended := func(state record.SessionState, why record.Why, cut bool) record.Event {
		e := change(5*sec, state)
		e.Session.Why, e.Session.Cut = why, cut
		return e
	}
	worked := did(3*sec, 4*sec, record.Step{N: 1, Op: record.OpJob, Session: "s1", OK: true})
	cancelled := did(3*sec, 4*sec, record.Step{N: 1, Op: record.OpCall, Session: "s1", Cancelled: true})
	for name, c := range map[string]struct {
		steps []record.Event
		ended record.Event
		cause record.Cause
	}{
		"done":              {nil, ended(record.SessionEnded, record.WhyTick, false), record.CauseJobDone},
		"cut off":           {nil, ended(record.SessionEnded, record.WhyTick, true), record.CauseCallTimedOut},
		"cut off when done": {worked, ended(record.SessionEnded, record.WhyTick, true), record.CauseJobDone},
		"cancelled":         {cancelled, ended(record.SessionEnded, record.WhyTick, false), record.CauseCallCancelled},
		"on its way to it":  {nil, ended(record.SessionEnding, record.WhyForget, false), record.CauseSessionForgotten},
	} {
		events := append([]record.Event{born(sec, "flaky#1", "s1", 31, host)}, c.steps...)
		f := Of(runOf(append(events, c.ended)...))
		cause, _ := f.HowEnded(f.Server("flaky#1"), 9*sec)
		assert.Equal(t, c.cause, cause, name)
	}
}

// TestWhoMayHoldStdin: the host, what it started itself, the launcher, what carries a server's command line. Others withhold its end.
func TestWhoMayHoldStdin(t *testing.T) {
	t.Parallel()
	worker, other := process(21, host, record.StateSleeping), process(41, 31, record.StateSleeping)
	look := []record.Process{process(31, 51, record.StateSleeping), process(51, host, record.StateSleeping), carrier(30, 31), other}
	f := Of(runOf(census(0, record.Census{Role: record.CensusStarted, Processes: []record.Process{worker}}), born(ms, "flaky#1", "s1", 31, 51),
		born(2*ms, "flaky#2", "s2", 32, host), census(sec, record.Census{Role: record.CensusSample, Processes: look})))
	s := f.Server("flaky#1")
	for name, c := range map[string]struct {
		descriptor record.Descriptor
		holder     int
		role       record.HolderRole
		kind       string
	}{
		"another process":     {record.Descriptor{FD: 0, Known: true}, 41, "", "eof-withheld"},
		"another server":      {record.Descriptor{FD: 0, Known: true}, 32, record.RoleServer("flaky#2"), "eof-withheld"},
		"a server's carrier":  {record.Descriptor{FD: 0, Known: true}, 30, record.RoleServer("flaky#2"), "eof-withheld"},
		"the host's worker":   {record.Descriptor{FD: 0, Known: true}, 21, "", ""},
		"a carrier":           {record.Descriptor{FD: 0, Known: true}, 30, "", ""},
		"its launcher":        {record.Descriptor{FD: 0, Known: true}, 51, "", ""},
		"nobody could see it": {record.Descriptor{FD: 0}, 41, "", ""},
		"of another pipe":     {record.Descriptor{FD: 3, Known: true}, 41, "", ""},
	} {
		c.descriptor.Mode = "read"
		c.descriptor.Holders = []record.Holder{{Identity: identity(c.holder), FD: 5, Mode: "write", Role: c.role}}
		first := record.Descriptor{FD: 1, Mode: "write", Known: true}
		e := &record.Evidence{Process: process(31, host, record.StateSleeping), Descriptors: []record.Descriptor{first, c.descriptor}}
		assert.Equal(t, c.kind, f.Hold(s, e, sec), name)
	}
	s.EOF = 2 * sec
	e := &record.Evidence{Process: process(31, host, record.StateSleeping), Descriptors: []record.Descriptor{
		{FD: 0, Mode: "read", Known: true, Holders: []record.Holder{{Identity: identity(41), FD: 5, Mode: "write"}}},
	}}
	assert.Equal(t, "eof-withheld", f.Hold(s, e, sec), "it ended after that")
	assert.Empty(t, f.Hold(s, e, 2*sec))
}

// TestWhatAHostLeavesHoldsStdinForNobody: what the host has started itself works with a server as long as the host lives.
func TestWhatAHostLeavesHoldsStdinForNobody(t *testing.T) {
	t.Parallel()
	f := Of(runOf(census(0, record.Census{Role: record.CensusStarted, Processes: []record.Process{process(21, host, record.StateSleeping)}}),
		born(ms, "flaky#1", "s1", 31, host),
		at(sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})))
	held := func(holder int, role record.HolderRole) *record.Evidence {
		return &record.Evidence{Process: process(31, host, record.StateSleeping), Descriptors: []record.Descriptor{
			{FD: 0, Mode: "read", Known: true, Holders: []record.Holder{{Identity: identity(holder), FD: 5, Mode: "write", Role: role}}},
		}}
	}
	s := f.Server("flaky#1")
	assert.Empty(t, f.Hold(s, held(21, ""), sec-1))
	assert.Equal(t, "eof-withheld", f.Hold(s, held(21, ""), 2*sec))
	assert.True(t, f.WithheldByItsOwn(s, held(21, "")))
	assert.False(t, f.WithheldByItsOwn(s, held(32, record.RoleServer("flaky#2"))), "a sibling withholds it from the start")
	assert.False(t, f.WithheldByItsOwn(s, &record.Evidence{}))
}

// TestWhyNoSignalReachedIt: what is known of the session and the group that it is in.
func TestWhyNoSignalReachedIt(t *testing.T) {
	t.Parallel()
	const session, forked, group = "It is in a session of its own (sid 31)", "It was forked again in a session (sid 77)", "It leads a process group of its own"
	for name, c := range map[string]struct {
		sid, pgid int
		kind      string
		says      string
		not       []string
	}{
		"its own session": {31, 31, "escaped", session, []string{forked, group}},
		"another session": {77, 77, "escaped", forked, []string{session, group}},
		"its own group":   {host, 31, "shielded", group, []string{session, forked}},
		"neither":         {host, host, "shielded", "It was launched through another process (pid 30), which is gone", []string{session, forked, group}},
	} {
		f, s := servant("", 30, carrier(30, host))
		p := process(31, 10, record.StateSleeping)
		p.SID, p.PGID = c.sid, c.pgid
		kind, why := f.OutOfReach(s, p)
		assert.Equal(t, c.kind, kind, name)
		assert.Contains(t, why, c.says, name)
		for _, not := range c.not {
			assert.NotContains(t, why, not, name)
		}
		s.Signals = []history.SignalMark{{T: sec}}
		kind, _ = f.OutOfReach(s, p)
		assert.Equal(t, c.kind == "escaped", kind == "escaped", "%s: a signal reached it", name)
		assert.NotEqual(t, "shielded", kind, name)
	}
	f, s := servant("", 30, carrier(30, host))
	kind, _ := f.OutOfReach(s, process(31, 30, record.StateSleeping))
	assert.Empty(t, kind, "its launcher is there still")
	f, s = servant("", 30)
	kind, _ = f.OutOfReach(s, process(31, 10, record.StateSleeping))
	assert.Empty(t, kind, "nobody has seen a launcher in front of it")
}

// TestWhatACurveAndACycleHold: nothing where a process was not there; of several whys the one that fits.
func TestWhatACurveAndACycleHold(t *testing.T) {
	t.Parallel()
	f := Of(runOf(cycle(sec, 1, 1, 0), cycle(2*sec, 1, 2, 5)))
	assert.Zero(t, f.Cycles[0].MemoryOf(identity(31)))
	assert.Equal(t, []int64{5}, CurveOf(f.Cycles, func(c *Cycle) int64 { return c.RSS }).Values)
	assert.Equal(t, []int64{0, 5}, CountsOf(f.Cycles, func(c *Cycle) int64 { return c.RSS }).Values, "none is a count like another")
	assert.Equal(t, "fewer than 2 cycles in a row can be compared", f.NoCycles(2))
	cp := &Checkpoint{Checkpoint: &history.Checkpoint{ConfirmAt: sec, ConfirmRows: history.RowsOf(&record.Census{Processes: []record.Process{process(31, host, "S")}})}}
	assert.Zero(t, cp.Load(identity(31)), "it was seen once")
	cp.SettledRows, cp.ConfirmRows = cp.ConfirmRows, nil
	assert.Zero(t, cp.Load(identity(31)), "it was seen once")
}

// TestAHungHostGoesWhenItIsKilled: what the kernel ends then is not what the host does, and neither is it before that.
func TestAHungHostGoesWhenItIsKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		op     record.Op
		ok     bool
		signal string
		from   int64 // when it is going
	}{
		"hung in its stop":    {record.OpStop, false, "SIGKILL", 3 * sec},
		"deaf to SIGTERM":     {record.OpTerm, false, "SIGKILL", 3 * sec},
		"killed at once":      {record.OpKill, true, "SIGKILL", sec},
		"stopped":             {record.OpStop, true, "", 9 * sec},
		"it could not be":     {record.OpTerm, false, "", 9 * sec},
		"it killed itself":    {record.OpStop, true, "SIGKILL", 9 * sec},
		"another step failed": {record.OpCall, false, "SIGKILL", 4*sec - int64(exitBlur)},
	} {
		events := did(sec, 3*sec, record.Step{N: 1, Op: c.op, OK: c.ok, Error: "x"})
		f := Of(runOf(append(events, at(4*sec, record.Event{
			Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: true, Signal: c.signal},
		}))...))
		assert.False(t, f.HostGoing(f.Host(), c.from-1), name)
		assert.Equal(t, c.from < 9*sec, f.HostGoing(f.Host(), c.from), name)
	}
}

// TestWasStopped: a look that shows the server stopped or traced says so, whichever it is, and says nothing of another process.
func TestWasStopped(t *testing.T) {
	t.Parallel()
	for state, was := range map[record.State]bool{
		record.StateStopped: true, record.StateTraced: true, record.StateSleeping: false, record.StateZombie: false,
	} {
		f := Of(runOf(born(0, "flaky#1", "s1", 31, host), born(0, "flaky#2", "s2", 32, host),
			census(sec, record.Census{Role: record.CensusSample, Processes: []record.Process{process(31, host, state), process(32, host, record.StateSleeping)}}),
			census(2*sec, record.Census{Role: record.CensusSample})))
		assert.Equal(t, was, f.WasStopped(f.Server("flaky#1")), state)
		assert.False(t, f.WasStopped(f.Server("flaky#2")), state)
	}
}

// TestWhatWindowsHas: neither signals nor zombies, and a console for each command whose process is gone.
func TestWhatWindowsHas(t *testing.T) {
	t.Parallel()
	of := func(os string, kind record.HostKind) *Facts {
		run := runOf()
		run.Header.System.OS, run.Header.Host.Kind = os, kind
		return Of(run)
	}
	windows, linux := of(record.Windows, record.KindOneshot), of("linux", record.KindOneshot)
	assert.False(t, windows.Signals())
	assert.False(t, windows.Zombies())
	assert.True(t, linux.Signals())
	assert.True(t, linux.Zombies())
	console, shell := process(40, 39, record.StateSleeping), process(39, host, record.StateSleeping)
	console.Comm = "ConHost.exe"
	rows := func(all ...record.Process) history.Rows { return history.RowsOf(&record.Census{Processes: all}) }
	assert.True(t, windows.IsCommandsConsole(console, rows(console)))
	assert.False(t, windows.IsCommandsConsole(console, rows(console, shell)), "its command is there")
	assert.False(t, windows.IsCommandsConsole(shell, rows(shell)))
	assert.False(t, linux.IsCommandsConsole(console, rows(console)))
	assert.False(t, of(record.Windows, record.KindDriver).IsCommandsConsole(console, rows(console)))
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	assert.Equal(t, SessionKey{"flaky", "s1"}, KeyOf(&history.Step{Step: record.Step{Label: "flaky", Session: "s1"}}))
}
