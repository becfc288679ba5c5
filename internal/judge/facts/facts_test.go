package facts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	run  = "feedc0ffee42"
	ms   = int64(time.Millisecond)
	sec  = int64(time.Second)
	host = 20
)

// runOf is a run of a host that started at 0, with the events that follow.
func runOf(events ...record.Event) *record.Run {
	r := &record.Run{Header: record.Header{
		Format: record.Format, Version: record.Version, ID: run, System: record.System{OS: "linux", CPUs: 4},
		Host:   record.Host{Name: "test", Kind: record.KindDriver},
		Limits: record.Limits{Settle: record.Duration(sec), Quiet: record.Duration(100 * ms)},
	}}
	started := at(0, record.Event{Kind: record.HostStarted, Process: &record.Process{
		Identity: record.Identity{PID: host, Start: 2000}, PPID: 10, SID: host, Comm: "host", State: record.StateSleeping,
	}})
	for i, e := range append([]record.Event{started}, events...) {
		e.Seq = int64(i + 1)
		r.Events = append(r.Events, e)
	}
	return r
}

func at(t int64, e record.Event) record.Event {
	e.T = t
	return e
}

func identity(pid int) record.Identity {
	return record.Identity{PID: pid, Start: uint64(pid) * 100}
}

// born is the birth of a server below a parent, which the host is or is not.
func born(t int64, id, session string, pid, ppid int) record.Event {
	return at(t, record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{
		Identity: identity(pid), PPID: ppid, PGID: host, SID: host, Label: id[:len(id)-2], Session: session, Launch: int(id[len(id)-1] - '0'),
	}})
}

// said is an event of the server flaky#1.
func said(t int64, kind record.Kind, text string) record.Event {
	return at(t, record.Event{Kind: kind, Server: "flaky#1", Text: text})
}

func change(t int64, state record.SessionState) record.Event {
	return at(t, record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s1", Label: "flaky", State: state}})
}

func call(t int64, phase record.Phase) record.Event {
	return at(t, record.Event{Kind: record.RPC, Server: "flaky#1", RPC: &record.RPCInfo{Method: record.MethodCall, ID: "1", Tool: "echo", Phase: phase}})
}

func census(t int64, c record.Census) record.Event {
	return at(t, record.Event{Kind: record.CensusTaken, Census: &c})
}

func process(pid, ppid int, state record.State) record.Process {
	return record.Process{Identity: identity(pid), PPID: ppid, PGID: host, SID: host, State: state, Comm: "leakbench"}
}

// checkpointAt is a checkpoint that begins, is looked at after its settle time with what a census shows, and ends.
func checkpointAt(t int64, gone bool, wants []record.Want, rows ...record.Process) []record.Event {
	cp := record.Checkpoint{Name: "after", Wants: wants, HostGone: gone}
	return []record.Event{
		at(t, record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp}),
		census(t+sec, record.Census{Role: record.CensusSettled, Checkpoint: "after", Processes: rows}),
		at(t+2*sec, record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp}),
	}
}

// A server that is born between the look of the runner and its census is not held against the host.
func TestACheckpointIsLookedAtTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second int64
		extra  []string
	}{
		"long before": {500 * ms, []string{"flaky#1"}},
		"at the look": {sec - ms, []string{}},
	} {
		// The wanted server is the newest one: the older one is too many as soon as there is another.
		wants := []record.Want{{Label: "flaky", Session: "s1", Live: 1}}
		all := checkpointAt(sec, false, wants, process(31, host, record.StateSleeping), process(32, host, record.StateSleeping))
		f := Of(runOf(born(500*ms, "flaky#1", "s1", 31, host), all[0], born(sec+c.second, "flaky#2", "s1", 32, host), all[1], all[2]))
		require.Len(t, f.Checkpoints, 1)
		cp := f.Checkpoints[0]
		got := []string{}
		for _, s := range cp.Extra {
			got = append(got, s.ID)
		}
		assert.Equal(t, c.extra, got, name)
		require.Len(t, cp.Alive, 2, name)
		assert.Same(t, f.Server("flaky#1"), cp.Alive[0], "%s: with all that became of it later", name)
		assert.Equal(t, 3*sec, cp.WatchedUntil, name)
	}
	f := Of(runOf(checkpointAt(sec, false, []record.Want{{Label: "flaky", Session: "s1", Live: 1}})...))
	assert.Len(t, f.Checkpoints[0].Missing, 1)
}

// What the keeper swept counts, unless it had to sweep the host as well.
func TestLeft(t *testing.T) {
	t.Parallel()
	gone := at(sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: true}})
	look := checkpointAt(2*sec, true, nil, process(31, 10, record.StateSleeping), process(32, 10, record.StateZombie))
	events := append([]record.Event{born(ms, "flaky#1", "s1", 31, host), gone}, look...)
	assert.Equal(t, 1, Of(runOf(events...)).Left())
	swept := func(p record.Process) record.Event {
		return at(5*sec, record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{p}}})
	}
	assert.Equal(t, 2, Of(runOf(append(events, swept(process(33, 10, record.StateSleeping)))...)).Left())
	all := process(33, 10, record.StateSleeping)
	itself := record.Process{Identity: record.Identity{PID: host, Start: 2000}, State: record.StateSleeping}
	assert.Equal(t, 1, Of(runOf(append(events, swept(all), swept(itself))...)).Left())
	assert.Zero(t, Of(runOf(checkpointAt(2*sec, false, nil, process(31, host, record.StateSleeping))...)).Left(), "the host lived")
}

// Whose doing something was depends on what the host had been asked, and on how it was.
func TestOnWatch(t *testing.T) {
	t.Parallel()
	stop := func(op record.Op) record.Event {
		return at(10*sec, record.Event{Kind: record.StepBegun, Step: &record.Step{N: 1, Op: op}})
	}
	died := func(asked bool) record.Event {
		return at(20*sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: asked}})
	}
	lost := at(30*sec, record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtKeeperLost, Text: "gone"}})
	other := at(30*sec, record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtNoTwin, Text: "gone"}})
	for name, c := range map[string]struct {
		events       []record.Event
		t            int64
		watch, going bool
	}{
		"at work":                 {[]record.Event{stop(record.OpStop), died(true)}, 9 * sec, true, false},
		"asked":                   {[]record.Event{stop(record.OpStop), died(true)}, 10 * sec, false, false},
		"killed":                  {[]record.Event{stop(record.OpKill), died(true)}, 10 * sec, false, true},
		"before it was killed":    {[]record.Event{stop(record.OpKill), died(true)}, 9 * sec, true, false},
		"on its way out":          {[]record.Event{stop(record.OpStop), died(true)}, 19 * sec, false, false},
		"something else went":     {[]record.Event{other}, 28 * sec, true, false},
		"long before it died":     {[]record.Event{died(false)}, 17 * sec, true, false},
		"when it died":            {[]record.Event{died(false)}, 18 * sec, false, true},
		"before the keeper went":  {[]record.Event{lost}, 27 * sec, true, false},
		"when the keeper went":    {[]record.Event{lost}, 28 * sec, false, true},
		"the host was not to end": {nil, 50 * sec, true, false},
	} {
		f := Of(runOf(c.events...))
		assert.Equal(t, c.watch, f.OnWatch(c.t), name)
		assert.Equal(t, c.going, f.HostGoing(f.HostAt(c.t), c.t), name)
	}
}

// The first thing that a server saw of its end is what was done to it.
func TestHarmTo(t *testing.T) {
	t.Parallel()
	eof := func(t int64) record.Event { return said(t, record.SawEOF, "") }
	term := func(t int64) record.Event {
		return at(t, record.Event{Kind: record.SawSignal, Server: "flaky#1", Signal: "SIGTERM"})
	}
	died := func(t int64) record.Event { return said(t, record.Died, "") }
	for name, c := range map[string]struct {
		events []record.Event
		kind   string
		t      int64
	}{
		"alive":            {nil, "", 0},
		"killed":           {[]record.Event{died(3 * sec)}, "killed", 3 * sec},
		"cut off":          {[]record.Event{eof(2 * sec), died(3 * sec)}, "cut-off", 2 * sec},
		"terminated first": {[]record.Event{term(sec), eof(2 * sec)}, "terminated", sec},
		"terminated last":  {[]record.Event{eof(sec), term(2 * sec)}, "cut-off", sec},
	} {
		f := Of(runOf(append([]record.Event{born(ms, "flaky#1", "s1", 31, host)}, c.events...)...))
		h, ok := HarmTo(f.Server("flaky#1"))
		assert.Equal(t, c.kind != "", ok, name)
		assert.Equal(t, c.kind, h.Kind, name)
		assert.Equal(t, c.t, h.T, name)
	}
	lost := Of(runOf(born(ms, "flaky#1", "s1", 31, host), said(sec, record.Lost, string(record.LostAtEnd)), died(2*sec)))
	_, ok := HarmTo(lost.Server("flaky#1"))
	assert.False(t, ok, "the ledger had lost it")
}

// A server works from its first answer on.
func TestServers(t *testing.T) {
	t.Parallel()
	f := Of(runOf(change(0, record.SessionOpening), born(ms, "flaky#1", "s1", 31, host), call(sec, record.PhaseReceived), call(2*sec, record.PhaseAnswered),
		change(6*sec, record.SessionEnded)))
	s := f.Server("flaky#1")
	assert.False(t, Established(s, 2*sec-1))
	assert.True(t, Established(s, 2*sec))
	assert.True(t, CallInFlight(s, sec))
	assert.False(t, CallInFlight(s, 2*sec))
	state, since := f.StateAt(s, 5*sec)
	assert.Equal(t, record.SessionOpening, state.State)
	assert.Zero(t, since)
	_, since = f.StateAt(s, -1)
	assert.Equal(t, history.Never, since)
}

// How slow a machine may have been follows from what the bench itself had of the processors.
func TestStarvedMachines(t *testing.T) {
	t.Parallel()
	loaded := func(ran, delayed, own int64) *Facts {
		look := func(t, n int64) record.Event {
			load := record.Load{Ran: record.Duration(ran * n), Delayed: record.Duration(delayed * n), Own: record.Duration(own * n)}
			return census(t, record.Census{Role: record.CensusSample, Load: &load})
		}
		return Of(runOf(look(sec, 0), look(11*sec, 1)))
	}
	for name, c := range map[string]struct {
		f        *Facts
		slowdown float64
		had      bool
	}{
		"quiet":                  {loaded(sec, 10*ms, 0), 1, true},
		"a little starved":       {loaded(6*sec, 4*sec, 0), 1, false},
		"starved":                {loaded(sec, 4*sec, 0), 4, false},
		"starved, half a second": {loaded(100*ms, 400*ms, 0), 1, false}, // little of the whole time
		"starved by the run":     {loaded(sec, 4*sec, 20*sec), 1, false},
		"nearly three times":     {loaded(3*sec, 5*sec, 0), 8.0 / 3, false},
	} {
		assert.InDelta(t, c.slowdown, c.f.Slowdown(2*sec, 3*sec), 0.01, name)
		assert.Equal(t, c.had, c.f.HadProcessors(2*sec, 3*sec), name)
	}
	f := loaded(sec, 4*sec, 0)
	assert.Equal(t, 4*sec, f.Scaled(time.Second, 5*sec))
	assert.True(t, f.MayBeTheMachines(2*sec, 5*sec, time.Second))
	assert.False(t, f.MayBeTheMachines(2*sec, 7*sec, time.Second), "no machine is that slow")
	assert.False(t, f.MayBeTheMachines(2*sec, 9*sec, 2*time.Second), "the bench waited less than that")
	unseen := Of(runOf())
	assert.False(t, unseen.HadProcessors(2*sec, 3*sec))
	assert.False(t, unseen.MayBeTheMachines(2*sec, 3*sec, time.Second))
}

// A server behind a launcher that is gone is out of reach by its session, or for want of a signal.
func TestOutOfReach(t *testing.T) {
	t.Parallel()
	carrier := process(30, host, record.StateSleeping)
	carrier.Args = []string{"sh", "-c", "leakbench fakeserver --run " + run + " --label flaky"}
	f := Of(runOf(census(0, record.Census{Role: record.CensusSample, Processes: []record.Process{carrier}}),
		born(ms, "flaky#1", "s1", 31, 30), born(ms, "flaky#2", "s2", 32, host)))
	behind, direct := f.Server("flaky#1"), f.Server("flaky#2")
	home, apart := process(31, 10, record.StateSleeping), process(31, 10, record.StateSleeping)
	apart.SID = 31
	own := process(32, host, record.StateSleeping)
	helper, escapee := process(40, 10, record.StateSleeping), process(41, 10, record.StateSleeping)
	escapee.SID = 41
	for name, c := range map[string]struct {
		s    *history.Server
		p    record.Process
		kind string
	}{
		"launcher gone":               {behind, home, "shielded"},
		"in a session of its own":     {behind, apart, "escaped"},
		"the host's own child":        {direct, own, ""},
		"no server":                   {nil, helper, ""},
		"no server, in a session too": {nil, escapee, "escaped"},
	} {
		kind, why := f.OutOfReach(c.s, c.p)
		assert.Equal(t, c.kind, kind, name)
		assert.Equal(t, c.kind != "", why != "", name)
	}

	cp := func(rows ...record.Process) *Checkpoint {
		c := record.Census{Processes: rows}
		return &Checkpoint{Checkpoint: &history.Checkpoint{Settled: &c, SettledRows: history.RowsOf(&c)}}
	}
	kind, _ := f.OutlivedLauncher(cp(home), behind)
	assert.Equal(t, "shielded", kind)
	kind, _ = f.OutlivedLauncher(cp(home, carrier), behind)
	assert.Empty(t, kind, "the launcher lives")
	kind, _ = f.OutlivedLauncher(cp(own), direct)
	assert.Empty(t, kind, "there is no launcher")
}

// What keeps a survivor comes from the evidence on it alone.
func TestHold(t *testing.T) {
	t.Parallel()
	f := Of(runOf(born(ms, "flaky#1", "s1", 31, host), born(ms, "flaky#2", "s2", 32, host)))
	s := f.Server("flaky#1")
	evidence := func(state record.State, syscall, wchan string, holders ...record.Holder) *record.Evidence {
		p := process(31, host, state)
		return &record.Evidence{Process: p, Syscall: syscall, Wchan: wchan, Descriptors: []record.Descriptor{{FD: 0, Mode: "read", Known: true, Holders: holders}}}
	}
	holder := func(role record.HolderRole, pid int) record.Holder {
		return record.Holder{Identity: identity(pid), FD: 5, Mode: "write", Role: role}
	}
	sibling := record.HolderRole("flaky#2")
	for name, c := range map[string]struct {
		e    *record.Evidence
		kind string
	}{
		"nothing known":       {nil, ""},
		"free to go":          {evidence(record.StateSleeping, "read(0)", "anon_pipe_read"), ""},
		"stopped":             {evidence(record.StateStopped, "", ""), "stopped"},
		"traced":              {evidence(record.StateTraced, "", ""), "stopped"},
		"writes to stdout":    {evidence(record.StateSleeping, "write(1)", "pipe_write"), "pipe-blocked"},
		"writes elsewhere":    {evidence(record.StateSleeping, "write(7)", "pipe_write"), ""},
		"no calls to be seen": {evidence(record.StateSleeping, "", "anon_pipe_write"), "pipe-blocked"},
		"runs":                {evidence(record.StateRunning, "", "anon_pipe_write"), ""},
		"held by a sibling":   {evidence(record.StateSleeping, "read(0)", "", holder(sibling, 32)), "eof-withheld"},
		"held by the host":    {evidence(record.StateSleeping, "read(0)", "", holder(sibling, 32), holder(record.RoleHost, host)), ""},
	} {
		assert.Equal(t, c.kind, f.Hold(s, c.e, sec), name)
	}
	s.EOF = sec
	assert.Empty(t, f.Hold(s, evidence(record.StateSleeping, "", "", holder(sibling, 32)), 2*sec), "stdin has ended")
}

// A host may end what has been idle as long as it says, and not in a call.
func TestOnSchedule(t *testing.T) {
	t.Parallel()
	r := runOf(born(0, "flaky#1", "s1", 31, host), call(sec, record.PhaseReceived), call(2*sec, record.PhaseAnswered), said(20*sec, record.SawEOF, ""))
	r.Header.Host.Profile.Idle = record.Duration(10 * sec)
	f := Of(r)
	s := f.Server("flaky#1")
	assert.True(t, f.OnSchedule(s, Harm{Kind: "cut-off", T: 9 * sec}))
	assert.False(t, f.OnSchedule(s, Harm{Kind: "cut-off", T: 8 * sec}), "not idle for that long")
	assert.False(t, f.OnSchedule(s, Harm{Kind: "killed", T: 9 * sec}), "without a word")
	inCall := runOf(born(0, "flaky#1", "s1", 31, host), call(sec, record.PhaseReceived), said(20*sec, record.SawEOF, ""))
	inCall.Header.Host.Profile.Idle = record.Duration(10 * sec)
	f = Of(inCall)
	assert.False(t, f.OnSchedule(f.Server("flaky#1"), Harm{Kind: "cut-off", T: 19 * sec}), "in a call")
	r.Header.Host.Profile.Idle = 0
	assert.False(t, Of(r).OnSchedule(s, Harm{Kind: "cut-off", T: 19 * sec}), "the host says nothing of it")
}

// Only cycles with the same number of processes are compared.
func TestSeries(t *testing.T) {
	t.Parallel()
	var looks []record.Event
	for n := 1; n <= 6; n++ {
		rows := []record.Process{process(31, host, record.StateSleeping)}
		if n == 4 {
			rows = append(rows, process(32, host, record.StateSleeping))
		}
		rows[0].RSS = int64(n)
		looks = append(looks, census(int64(n)*sec, record.Census{
			Role: record.CensusCycle, Cycle: &record.Cycle{Series: 1, N: n, Quiet: n != 5}, Processes: rows,
			Host: &record.Process{Identity: record.Identity{PID: host, Start: 2000}, RSS: int64(100 * n), FDs: 7},
		}))
	}
	f := Of(runOf(append([]record.Event{born(0, "flaky#1", "s1", 31, host)}, looks...)...))
	all := f.Series(1)
	require.Len(t, all, 1)
	memory := CurveOf(all[0], func(c *Cycle) int64 { return c.MemoryOf(identity(31)) })
	assert.Equal(t, []int{2, 3, 6}, memory.N, "the first one is warm-up, the fourth has another process, the fifth was not quiet")
	assert.Equal(t, []int64{2, 3, 6}, memory.Values)
	assert.Equal(t, "2, 3, 6", memory.List(func(v int64) string { return string(rune('0' + v)) }))
	held := CurveOf(all[0], func(c *Cycle) int64 { return c.FDs })
	assert.Equal(t, []int64{7, 7, 7}, held.Values)
	assert.Equal(t, "6 repetitions of the scenario; 9 are needed", f.NoCycles(9))
	assert.Equal(t, "at the end of 1 of 6 cycles, processes that should be gone were still there: what the host holds for them cannot be distinguished from a leak", f.NoCycles(6))
	assert.Equal(t, "the scenario repeats nothing, so there are no cycles to compare", Of(runOf()).NoCycles(1))
}

// How a session ended is the last word before its server was left behind, not what became of its name later.
func TestHowEnded(t *testing.T) {
	t.Parallel()
	state := func(t int64, s record.SessionState, why record.Why) record.Event {
		e := change(t, s)
		e.Session.Why = why
		return e
	}
	step := func(begun int64, st record.Step) []record.Event {
		return []record.Event{at(begun, record.Event{Kind: record.StepBegun, Step: &st}), at(begun+ms, record.Event{Kind: record.StepEnded, Step: &st})}
	}
	failed := step(2*sec, record.Step{N: 1, Op: record.OpClose, Session: "s1", Label: "flaky", Error: "no"})
	worked := step(2*sec, record.Step{N: 1, Op: record.OpClose, Session: "s1", Label: "flaky", OK: true})
	for name, c := range map[string]struct {
		events []record.Event
		cause  record.Cause
	}{
		"nobody told":       {nil, record.CauseSessionUnknown},
		"open":              {[]record.Event{state(sec, record.SessionOpen, "")}, record.CauseSessionOpen},
		"closed":            {append(worked, state(3*sec, record.SessionEnded, record.WhyClose)), record.CauseSessionClosed},
		"not to be closed":  {append(failed, state(3*sec, record.SessionEnded, record.WhyClose)), record.CauseCloseFailed},
		"forgotten":         {[]record.Event{state(3*sec, record.SessionEnded, record.WhyForget)}, record.CauseSessionForgotten},
		"never opened":      {[]record.Event{state(3*sec, record.SessionEnded, "")}, record.CauseOpenFailed},
		"its name lives on": {[]record.Event{state(3*sec, record.SessionEnded, record.WhyForget), state(4*sec, record.SessionOpen, "")}, record.CauseSessionForgotten},
		"cancelled":         {[]record.Event{state(2*sec, record.SessionOpen, record.WhyCancel), state(3*sec, record.SessionEnded, record.WhyForget)}, record.CauseCallCancelled},
	} {
		f := Of(runOf(append([]record.Event{born(ms, "flaky#1", "s1", 31, host)}, c.events...)...))
		cause, refused := f.HowEnded(f.Server("flaky#1"), 9*sec)
		assert.Equal(t, c.cause, cause, name)
		assert.Equal(t, c.cause == record.CauseCloseFailed, refused != nil, name)
	}
}

// A certificate may come long after the process was started that became the server.
func TestLaunchBegan(t *testing.T) {
	t.Parallel()
	late := born(5*sec, "flaky#1", "s1", 31, host)
	late.Birth.Start = 2000 + 300 // ticks of 10 ms: 3 s after the host
	behind := born(6*sec, "flaky#2", "s2", 32, 77)
	behind.Birth.Start = 2000 + 600
	f := Of(runOf(late, behind))
	began, known := f.LaunchBegan(f.Server("flaky#1"))
	assert.True(t, known)
	assert.Equal(t, 3*sec, began)
	_, known = f.LaunchBegan(f.Server("flaky#2"))
	assert.False(t, known, "nobody saw its launcher")
}

// A process is busy with half a processor, or where it was ready to run at both looks.
func TestSpins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		used  int64
		state record.State
		spins bool
	}{
		"half a processor":       {sec, record.StateSleeping, true},
		"less, and waiting":      {sec - ms, record.StateSleeping, false},
		"less, and ready to run": {100 * ms, record.StateRunning, true},
		"next to nothing":        {99 * ms, record.StateRunning, false},
	} {
		before, after := process(31, 10, c.state), process(31, 10, c.state)
		after.CPU = record.Duration(c.used)
		cp := &Checkpoint{Checkpoint: &history.Checkpoint{
			SettledAt: sec, ConfirmAt: 3 * sec,
			SettledRows: history.RowsOf(&record.Census{Processes: []record.Process{before}}), ConfirmRows: history.RowsOf(&record.Census{Processes: []record.Process{after}}),
		}}
		assert.Equal(t, c.spins, cp.Spins(identity(31)), name)
		assert.Zero(t, cp.Load(identity(99)), name)
	}
}
