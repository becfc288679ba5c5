package verdict

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// looked is a checkpoint that was looked at after five seconds.
func looked(rows ...record.Process) *facts.Checkpoint {
	c := &record.Census{Processes: rows}
	cp := &facts.Checkpoint{Checkpoint: &history.Checkpoint{
		Checkpoint: record.Checkpoint{Name: "after"}, Begun: 4 * second, SettledAt: 5 * second, ConfirmAt: never, Ended: 8 * second, Settled: c, SettledRows: history.RowsOf(c),
	}}
	cp.WatchedUntil = 8 * second
	return cp
}

// TestAServersOwnZombie is no matter of the host: its parent is a server that was there.
func TestAServersOwnZombie(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *history.Server)
		own    bool
	}{
		"alive":        {func(*history.Server) {}, true},
		"born later":   {func(s *history.Server) { s.Born = 5*second + 1 }, false},
		"dead by then": {func(s *history.Server) { s.Died = 5 * second }, false},
		"died later":   {func(s *history.Server) { s.Died = 5*second + 1 }, true},
		"another pid":  {func(s *history.Server) { s.Birth.PID = 9 }, false},
	} {
		f := opened("s1")
		c.change(f.servers[0])
		assert.Equal(t, c.own, f.isServersOwn(looked(), record.Process{PPID: 101, State: record.StateZombie}), name)
	}
}

// zombieRun is a run with looks at 1, 2 and 3 s in which a server's process was seen as said: S, Z or not at all.
func zombieRun(states string, more ...record.Event) *casefile {
	p := newPlay()
	p.open("s1", "flaky")
	id := p.ids["flaky#1"]
	other := record.Process{Identity: record.Identity{PID: 300, Start: 3}, State: record.StateZombie}
	for i, state := range states {
		c := &record.Census{Role: record.CensusSample, Processes: []record.Process{other}}
		if state != '-' {
			c.Processes = append(c.Processes, record.Process{Identity: id, PPID: hostPID, State: record.State(string(state))})
		}
		p.t = time.Duration(2*i+1) * s
		p.add(record.Event{Kind: record.CensusTaken, Census: c})
	}
	for _, e := range more {
		p.add(e)
	}
	return open(p.run)
}

// TestSinceWhenAZombie: since the server said that it died, or since a look saw it dead, whichever came first.
func TestSinceWhenAZombie(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		states string
		died   int64
		since  int64
	}{
		"said, then seen":  {"SZZ", 2 * second, 2 * second},
		"seen, then said":  {"SZZ", 4 * second, 3*second + 10000},
		"only seen":        {"SZZ", never, 3*second + 10000},
		"said, never seen": {"SSS", 2 * second, 2 * second},
	} {
		f := zombieRun(c.states)
		s := f.servers[0]
		s.Died = c.died
		assert.Equal(t, c.since, f.deadSince(record.Process{Identity: s.Birth.Identity}), name)
	}
	f := zombieRun("SZZS")
	assert.Equal(t, 5*second+10000, f.lastSeenDead(looked(), f.servers[0].Birth.Identity), "later than the checkpoint, at the third look")
	cp := looked()
	cp.SettledAt = 6 * second
	assert.Equal(t, 6*second, f.lastSeenDead(cp, f.servers[0].Birth.Identity), "at the checkpoint itself")
}

// TestWhoCameHome: what the keeper waited for, or swept; and whether it is the one who would.
func TestWhoCameHome(t *testing.T) {
	t.Parallel()
	id := record.Identity{PID: 101, Start: 10100}
	mine, others := record.Process{Identity: id}, record.Process{Identity: record.Identity{PID: 7}}
	for name, c := range map[string]struct {
		e    record.Event
		home bool
	}{
		"reaped":         {record.Event{Kind: record.Reaped, Process: &mine}, true},
		"another reaped": {record.Event{Kind: record.Reaped, Process: &others}, false},
		"swept":          {record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{mine}}}, true},
		"another swept":  {record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{others}}}, false},
		"a bystander":    {record.Event{Kind: record.BystanderSeen, Process: &mine}, false},
	} {
		assert.Equal(t, c.home, zombieRun("S", c.e).cameHome(id), name)
	}
	twin := func(ppid int) *record.Process { return &record.Process{Identity: record.Identity{PID: 8}, PPID: ppid} }
	for name, c := range map[string]struct {
		e     record.Event
		below bool
	}{
		"a twin of the keeper's": {record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Process: twin(keeperPID)}, true},
		"of somebody else's":     {record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Process: twin(9)}, false},
		"no twin":                {record.Event{Kind: record.BystanderSeen, Text: record.StandsRecycled, Process: twin(keeperPID)}, false},
		"reaped":                 {record.Event{Kind: record.Reaped, Process: twin(keeperPID)}, false},
	} {
		f := zombieRun("S", c.e)
		assert.Equal(t, c.below, f.belowKeeper(f.Host()), name)
	}
	f := opened("s1")
	shell := record.Process{Identity: record.Identity{PID: 55, Start: 1}, Comm: "sh"}
	for pid, want := range map[int][2]string{hostPID: {"the host (pid 20)", "host"}, 55: {"sh (pid 55)", "sh"}, 66: {"pid 66", "another process"}} {
		name, role := f.parent(looked(shell), pid)
		assert.Equal(t, want, [2]string{name, role})
	}
}

// TestCrashesOfTheHost: a status or a signal of its own, unasked, after it had launched something.
func TestCrashesOfTheHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		exit    record.Exit
		change  func(f *casefile)
		crashes int
	}{
		"with a status":      {record.Exit{Code: 3}, nil, 1},
		"by a signal":        {record.Exit{Code: -1, Signal: "SIGSEGV"}, nil, 1},
		"by a signal alone":  {record.Exit{Signal: "SIGSEGV"}, nil, 1},
		"in order":           {record.Exit{}, nil, 0},
		"killed":             {record.Exit{Code: -1, Signal: "SIGKILL"}, nil, 0},
		"asked":              {record.Exit{Code: 3, Asked: true}, nil, 0},
		"asked a moment ago": {record.Exit{Code: 3}, func(f *casefile) { f.Host().AskedAt = f.Host().Exited }, 0},
		"asked too late":     {record.Exit{Code: 3}, func(f *casefile) { f.Host().AskedAt = f.Host().Exited + 1 }, 1},
		"a command's":        {record.Exit{Code: 3}, func(f *casefile) { f.Header.Host.Kind = record.KindOneshot }, 0},
		"without servers":    {record.Exit{Code: 3}, func(f *casefile) { f.servers = nil }, 0},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &c.exit})
		f := open(p.run)
		if c.change != nil {
			c.change(f)
		}
		assert.Equal(t, c.crashes, f.judgeCrashes(), name)
		assert.Len(t, f.Breaches, c.crashes, name)
	}
	p := newPlay()
	p.open("s1", "flaky")
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 3}})
	f := open(p.over(record.End{Reason: record.EndInterrupted}))
	assert.Zero(t, f.judgeCrashes(), "the bench cut it short")
	h := f.Host()
	b := f.crashBreach(h)
	assert.Contains(t, b.Value, "exit status 3")
	assert.Contains(t, b.Narrative, "It wrote nothing to its stderr.")
	h.Words, h.Exit.Signal = "panic: no", "SIGSEGV"
	b = f.crashBreach(h)
	assert.Contains(t, b.Value, "pid 20: SIGSEGV")
	assert.Contains(t, b.Narrative, "Its stderr ends with: ")
	assert.NotContains(t, b.Narrative, "nothing to its stderr")
	assert.Equal(t, record.CauseOfSignal("SIGSEGV"), b.Cause)
}

// TestARecoveryNeedsAnOpenThatWorks after the last fault; a call into a session that never opened again says nothing of its own.
func TestARecoveryNeedsAnOpenThatWorks(t *testing.T) {
	t.Parallel()
	step := func(op record.Op, ok bool) record.Step {
		st := record.Step{Op: op, Session: "s1", Label: "flaky", OK: ok}
		if !ok {
			st.Error = "no"
		}
		return st
	}
	for name, c := range map[string]struct {
		first, second record.Step
		change        func(f *casefile, a, b *history.Step)
		found         string
		blamed        []bool
	}{
		"both work":              {step("open", true), step("call", true), nil, "1 session opened after it, 0 failed", []bool{false, false}},
		"a job fails":            {step("open", true), step("job", false), nil, "2 sessions opened after it, 1 failed", []bool{false, true}},
		"the open fails":         {step("open", false), step("call", false), nil, "1 session opened after it, 1 failed", []bool{true, true}},
		"the open fails alone":   {step("open", false), step("call", true), nil, "1 session opened after it, 1 failed", []bool{true, false}},
		"the call fails":         {step("open", true), step("call", false), nil, "1 session opened after it, 1 failed", []bool{false, true}},
		"a close fails":          {step("open", true), step("close", false), nil, "1 session opened after it, 0 failed", []bool{false, false}},
		"a call, never opened":   {step("call", false), step("call", false), nil, "0 sessions opened after it, 0 failed", []bool{false, false}},
		"the second was skipped": {step("open", true), step("open", false), func(_ *casefile, _, b *history.Step) { b.Skipped = true }, "1 session opened after it, 0 failed", []bool{false, false}},
		"the second has no end":  {step("open", true), step("open", false), func(_ *casefile, _, b *history.Step) { b.Ended = never }, "1 session opened after it, 0 failed", []bool{false, false}},
		"it was to fail":         {step("open", true), step("open", false), func(_ *casefile, _, b *history.Step) { b.Expect = record.ExpectFail }, "1 session opened after it, 0 failed", []bool{false, false}},
		"harmed by L3":           {step("open", true), step("call", false), func(f *casefile, _, b *history.Step) { f.harm(f.servers[0], b.Ended) }, "1 session opened after it, 0 failed", []bool{false, false}},
	} {
		f := opened("s1", "s1")
		f.servers[0].Faults = []history.FaultMark{{T: second, Fault: hangs.Fault}}
		a, b := stepIn(f, 0, c.first, 2*second, 3*second), stepIn(f, 1, c.second, 4*second, 5*second)
		if c.change != nil {
			c.change(f, a, b)
		}
		assert.Equal(t, c.found, judgeRecovers(f).Found, name)
		blamed := []bool{f.Blamed[1], f.Blamed[2]}
		assert.Equal(t, c.blamed, blamed, name)
	}
	assert.Equal(t, "no server broke a session", judgeRecovers(opened("s1")).Reason)
	f := opened("s1")
	f.servers[0].Faults = []history.FaultMark{{T: 50 * second, Fault: hangs.Fault}}
	assert.Equal(t, "no session was opened after the last fault", judgeRecovers(f).Reason)
}

// TestWhatARecoveryShowed is how many servers were launched for the step, and how many of them answered in time.
func TestWhatARecoveryShowed(t *testing.T) {
	t.Parallel()
	const two, one, none = "The host launched 2 servers for it, and 2 finished", "The host launched 1 server for it, and 1 finished", "The host did not even launch a server for it."
	for name, c := range map[string]struct {
		change func(f *casefile, st *history.Step, s *history.Server)
		says   string
	}{
		"both":               {func(*casefile, *history.Step, *history.Server) {}, two},
		"one too late":       {func(_ *casefile, _ *history.Step, s *history.Server) { s.Born = 7 * second }, one},
		"one too early":      {func(_ *casefile, _ *history.Step, s *history.Server) { s.Born = second }, one},
		"one of another":     {func(_ *casefile, _ *history.Step, s *history.Server) { s.Session = "s2" }, one},
		"one of a label":     {func(_ *casefile, _ *history.Step, s *history.Server) { s.Label = "steady" }, one},
		"one without answer": {func(_ *casefile, _ *history.Step, s *history.Server) { s.Established = never }, "launched 2 servers for it, and 1 finished"},
		"sessions unknown": {func(f *casefile, _ *history.Step, s *history.Server) {
			s.Session, f.Header.Host.Kind = "", record.KindCommand
		}, two},
		"a call": {func(_ *casefile, st *history.Step, _ *history.Server) { st.Op = record.OpCall }, "The session had been opened anew before."},
		"none": {func(f *casefile, _ *history.Step, s *history.Server) {
			f.servers[0].Born, s.Born = 0, 0
		}, none},
	} {
		f := opened("s1", "s1")
		for _, s := range f.servers {
			s.Born, s.Established = 5*second, 5*second
		}
		st := stepIn(f, 0, record.Step{Op: record.OpOpen, Session: "s1", Label: "flaky", Error: "no"}, 4*second, 6*second)
		c.change(f, st, f.servers[1])
		assert.Contains(t, f.recoveryBreach(st, second).Narrative, c.says, name)
	}
	f := opened("s1", "s2")
	f.servers[0].Faults = []history.FaultMark{{T: 5 * second, Fault: record.Fault{Do: "ignore"}}, {T: 4 * second, Fault: hangs.Fault}}
	f.servers[1].Faults = []history.FaultMark{{T: 5 * second, Fault: record.Fault{On: "order", Do: "exit", Breaks: true}}}
	for _, c := range []struct {
		servers record.Sharing
		died    int64
		since   string
	}{
		{"", never, "with nothing wrong any more"},
		{record.Shared, never, "with that server still in its place"},
		{record.Shared, 7 * second, "with nothing wrong any more"},
		{record.Shared, 7*second + 1, "with that server still in its place"},
	} {
		f.Header.Host.Servers, f.servers[1].Died = c.servers, c.died
		name, since := f.faultAt(5*second, 7*second)
		assert.Contains(t, name, "exit of flaky#2")
		assert.Equal(t, c.since, since)
	}
	name, _ := f.faultAt(9*second, 9*second)
	assert.Equal(t, "unknown", name)
}

// TestWhichServersACheckpointWants: the newest ones of the group that work come first.
func TestWhichServersACheckpointWants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile)
		ids    []string
	}{
		"the newest":     {func(*casefile) {}, []string{"flaky#3"}},
		"one that works": {func(f *casefile) { f.servers[2].Established = never }, []string{"flaky#2"}},
		"none works": {func(f *casefile) {
			f.servers[0].Established, f.servers[1].Established, f.servers[2].Established = never, never, never
		}, []string{"flaky#3"}},
		"one was born too late":  {func(f *casefile) { f.servers[2].Born = 5*second + 1 }, []string{"flaky#2"}},
		"one is of another":      {func(f *casefile) { f.servers[2].Session = "s2" }, []string{"flaky#2"}},
		"one is another label's": {func(f *casefile) { f.servers[2].Label = "steady" }, []string{"flaky#2"}},
	} {
		f := opened("s1", "s1", "s1")
		cp := looked()
		cp.Wants = []record.Want{want("steady", "s1", 3), want("flaky", "s1", 1), want("flaky", "s2", 2), want("later", "s1", 3)}
		c.change(f)
		var ids []string
		for _, s := range f.wanted(cp, want("flaky", "s1", 1)) {
			ids = append(ids, s.ID)
		}
		assert.Equal(t, c.ids, ids, name)
	}
	f := opened("s1", "s1", "s1")
	f.servers[2].Established = never
	cp := looked()
	cp.Wants = []record.Want{want("flaky", "s1", 3)}
	require.Len(t, f.wanted(cp, cp.Wants[0]), 3, "the one that does not work comes last")
	assert.Equal(t, "flaky#3", f.wanted(cp, cp.Wants[0])[2].ID)
}

// TestWhatIsMissing: a wanted server that died by itself before the look, unless that is told of, or was no doing of the host's.
func TestWhatIsMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func(f *casefile, cp *facts.Checkpoint, s *history.Server)
		missing bool
	}{
		"died":           {func(*casefile, *facts.Checkpoint, *history.Server) {}, true},
		"alive":          {func(_ *casefile, _ *facts.Checkpoint, s *history.Server) { s.Died = never }, false},
		"died later":     {func(_ *casefile, _ *facts.Checkpoint, s *history.Server) { s.Died = 5*second + 1 }, false},
		"broken":         {func(_ *casefile, _ *facts.Checkpoint, s *history.Server) { s.Broken = 4 * second }, false},
		"lost":           {func(_ *casefile, _ *facts.Checkpoint, s *history.Server) { s.Lost = 4 * second }, false},
		"after the host": {func(_ *casefile, cp *facts.Checkpoint, _ *history.Server) { cp.HostGone = true }, false},
		"nobody looked":  {func(_ *casefile, cp *facts.Checkpoint, _ *history.Server) { cp.Settled = nil }, false},
		"the host ended": {func(f *casefile, _ *facts.Checkpoint, _ *history.Server) { f.Host().AskedAt = 5 * second }, false},
	} {
		f := opened("s1")
		cp := looked()
		cp.Wants = []record.Want{want("flaky", "s1", 1)}
		cp.Missing = cp.Wants
		f.servers[0].Died = 4 * second
		c.change(f, cp, f.servers[0])
		hurt := map[string]bool{}
		f.missingAt(cp, hurt)
		assert.Equal(t, c.missing, hurt["flaky#1"], name)
		assert.Equal(t, c.missing, len(f.Breaches) == 1, name)
	}
}

// TestCommandsThatHang are told of with what is left below them.
func TestCommandsThatHang(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	st := stepIn(f, 0, record.Step{Op: record.OpJob, Session: "s1", Label: "flaky", Limit: record.Duration(s)}, 4*second, 6*second)
	process := func(pid int) record.Evidence {
		return record.Evidence{Process: record.Process{Identity: record.Identity{PID: pid, Start: uint64(pid)}, Comm: "sh", Args: []string{"sh", "-c"}, State: record.StateSleeping}, Syscall: "wait4"}
	}
	st.Keeps = []record.Evidence{process(50)}
	f.judgeCommand(st)
	st.Keeps = []record.Evidence{process(50), process(51), process(52)}
	f.judgeCommand(st)
	require.Len(t, f.Breaches, 2)
	alone, with := f.Breaches[0], f.Breaches[1]
	assert.Contains(t, alone.Narrative, "No process is left below it")
	assert.NotContains(t, with.Narrative, "No process is left below it")
	assert.Contains(t, with.Narrative, "Below it: ")
	assert.NotEqual(t, alone.Like, with.Like, "they do not look the same")
	assert.Equal(t, "3 commands", judgeShutdown(withJobs(3)).Found)
	assert.Equal(t, "2 commands", judgeShutdown(withJobs(2)).Found)
}

// withJobs is a run with so many jobs that ended in time.
func withJobs(n int) *casefile {
	f := opened(slices.Repeat([]string{"s1"}, n)...)
	for i := range n {
		stepIn(f, i, record.Step{Op: record.OpJob, Session: "s1", Label: "flaky", Limit: record.Duration(s), OK: true}, 4*second, 5*second)
	}
	return f
}

// TestGoingToTheBackground: by a session of its own, or by an exit with 0 that nobody asked for.
func TestGoingToTheBackground(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile, p *record.Process)
		daemon bool
	}{
		"in a session of its own": {func(_ *casefile, p *record.Process) { p.SID = p.PID }, true},
		"in the host's":           {func(*casefile, *record.Process) {}, false},
		"the host's own session":  {func(f *casefile, p *record.Process) { p.SID, f.Host().SID = p.PID, p.PID }, false},
		"by itself":               {func(f *casefile, _ *record.Process) { f.Host().Exit = record.Exit{} }, true},
		"with a status":           {func(f *casefile, _ *record.Process) { f.Host().Exit = record.Exit{Code: 1} }, false},
		"by a signal":             {func(f *casefile, _ *record.Process) { f.Host().Exit = record.Exit{Signal: "SIGTERM"} }, false},
		"asked":                   {func(f *casefile, _ *record.Process) { f.Host().Exit, f.Host().AskedAt = record.Exit{}, second }, false},
		"asked, as it says":       {func(f *casefile, _ *record.Process) { f.Host().Exit = record.Exit{Asked: true} }, false},
		"a driven host":           {func(f *casefile, p *record.Process) { p.SID, f.Header.Host.Kind = p.PID, record.KindDriver }, false},
	} {
		f := opened("s1")
		f.Header.Host.Kind = record.KindCommand
		f.Host().Exit, f.Host().Exited = record.Exit{Code: 7}, 3*second
		s := f.servers[0].Birth.Identity
		control := record.Process{Identity: record.Identity{PID: 60, Start: 6}, PPID: 1, SID: 20, State: record.StateSleeping}
		c.change(f, &control)
		server := record.Process{Identity: s, PPID: 60, SID: 20, State: record.StateSleeping}
		stranger := record.Process{Identity: record.Identity{PID: 70, Start: 7}, PPID: 1, SID: 70, State: record.StateSleeping}
		cp := looked(control, server, stranger)
		held := func(fd int, by record.Identity, mode string) record.Evidence {
			return record.Evidence{Process: server, Descriptors: []record.Descriptor{{FD: fd, Known: true, Holders: []record.Holder{{Identity: by, Mode: mode}}}}}
		}
		e, out := held(0, control.Identity, "write"), held(0, stranger.Identity, "read")
		e.Descriptors = append(e.Descriptors, out.Descriptors...)
		e.Descriptors = append(e.Descriptors, held(1, stranger.Identity, "write").Descriptors...)
		foreign := held(0, stranger.Identity, "write")
		cp.Evidence = map[record.Identity]record.Evidence{s: e, control.Identity: foreign}
		for range 2 {
			left := f.lessDaemon(cp, f.Host(), slices.Clone(cp.Settled.Processes))
			if c.daemon {
				require.Equal(t, []record.Process{stranger}, left, name)
				assert.Equal(t, []record.Identity{control.Identity}, f.Daemons, name)
			} else {
				require.Len(t, left, 3, name)
				assert.Empty(t, f.Daemons, name)
			}
		}
	}
}

// TestWhatIsJudgedOnEvidence: a law is kept where something shows it, and where no wait was stretched for it.
func TestWhatIsJudgedOnEvidence(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	f.Header.Plan.Evidence = true
	assert.Empty(t, f.unshown("L3"))
	f.servers[0].Established = never
	assert.Equal(t, "no server of a session has worked", f.unshown("L3"))
	assert.Equal(t, "no server had to be gone while the host lived", f.unshown("L1"))
	assert.Equal(t, "no server died while the host lived", f.unshown("L4"))
	f.Breaches = []*breach.Breach{{Law: "L1"}, {Law: "L3"}}
	assert.Empty(t, f.unshown("L1"), "it is broken")
	f.Breaches = nil
	assert.Empty(t, f.unshown("L2"))
	cp := looked()
	cp.Quiet, cp.HostGone, cp.Stretched = true, true, 1
	f.Checkpoints = []*facts.Checkpoint{cp}
	assert.Contains(t, f.unshown("L2"), "only because the wait was stretched")
}

func rowOf(s *history.Server) history.Rows {
	return history.RowsOf(&record.Census{Processes: []record.Process{{Identity: s.Birth.Identity, State: record.StateSleeping}}})
}
