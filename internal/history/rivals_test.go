package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// TestCheckpoints: each census is of the checkpoint that it names, as long as that is under way; the first settled one counts, and a
// confirmed one only after it.
func TestWhatACheckpointTakesIn(t *testing.T) {
	t.Parallel()
	look := func(p *tape, role record.CensusRole, name string, pid int) int64 {
		return p.census(record.Census{Role: role, Checkpoint: name, Processes: []record.Process{row(pid, 9, "S")}})
	}
	p := &tape{}
	p.checkpoint(record.CheckpointBegun, record.Checkpoint{Name: "one"})
	look(p, record.CensusConfirm, "one", 1) // nothing has settled yet
	look(p, record.CensusSample, "one", 2)
	look(p, record.CensusSettled, "two", 3) // of no checkpoint
	settled := look(p, record.CensusSettled, "one", 4)
	look(p, record.CensusSettled, "one", 5)
	look(p, record.CensusSample, "one", 6)
	confirmed := look(p, record.CensusConfirm, "one", 7)
	look(p, record.CensusSample, "one", 10)
	ended := p.checkpoint(record.CheckpointEnded, record.Checkpoint{Name: "one", Quiet: true, Waited: 3, Stretched: 4, Starved: 0.5})
	p.checkpoint(record.CheckpointEnded, record.Checkpoint{Name: "two", Quiet: true})
	p.checkpoint(record.CheckpointEnded, record.Checkpoint{Name: "one", Waited: 9})
	p.checkpoint(record.CheckpointBegun, record.Checkpoint{Name: "one"})
	p.checkpoint(record.CheckpointBegun, record.Checkpoint{Name: "two"})
	look(p, record.CensusSettled, "one", 8)
	look(p, record.CensusConfirm, "two", 11) // nothing has settled there
	all := of(p.events).Checkpoints()
	require.Len(t, all, 3)
	first := all[0]
	assert.Equal(t, []int64{settled, confirmed, ended}, []int64{first.SettledAt, first.ConfirmAt, first.Ended})
	assert.Equal(t, 4, first.Settled.Processes[0].PID)
	assert.Equal(t, 7, first.Confirm.Processes[0].PID)
	assert.Equal(t, record.Checkpoint{Name: "one", Quiet: true, Waited: 3, Stretched: 4, Starved: 0.5}, first.Checkpoint)
	assert.Equal(t, 8, all[1].Settled.Processes[0].PID, "a checkpoint of the same name, once more")
	assert.Nil(t, all[2].Settled)
	assert.Nil(t, all[2].Confirm)
	assert.Equal(t, Never, all[1].Ended)
}

// TestServersByTheirCommandLines: a fake server is told by its arguments, and what is in front of it carries them.
func TestServersByTheirCommandLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args        []string
		is, carries bool
	}{
		"a server":       {[]string{"lb", "fakeserver", "--run", "r1"}, true, true},
		"flags first":    {[]string{"lb", "--label=x", "--run", "r1", "fakeserver"}, true, true},
		"a launcher":     {[]string{"npx", "-y", "lb", "fakeserver", "--run", "r1"}, false, true},
		"a shell":        {[]string{"sh", "-c", "lb fakeserver --run r1"}, false, true},
		"another run's":  {[]string{"lb", "fakeserver", "--run", "r2"}, false, false},
		"another part":   {[]string{"lb", "fakehelper", "--run", "r1"}, false, true},
		"one word":       {[]string{"r1"}, false, true},
		"two words":      {[]string{"lb", "fakeserver"}, false, false},
		"nothing at all": {nil, false, false},
	} {
		p := row(7, 9, "S")
		p.Args = c.args
		assert.Equal(t, c.is, IsServer(&p, "r1"), name)
		assert.Equal(t, c.carries, CarriesServer(&p, "r1"), name)
		assert.False(t, CarriesServer(&p, ""), name)
		tape := started(p)
		assert.Equal(t, c.carries, of1(tape).CarriedServer(7), name)
	}
}

// TestFaultsAreCountedByWhatTheyDo: a plan's fault is one moment and one action.
func TestFaultsAreCountedByWhatTheyDo(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "", 1)
	p.fault("a#1", record.Fault{On: record.OnOrder, Do: record.DoExit})
	p.fault("a#1", record.Fault{On: record.OnOrder, Do: "hang", Breaks: true})
	plan := record.Plan{Faults: []record.PlanFault{{Label: "a", On: record.OnOrder, Do: record.DoExit}, {Label: "a", On: record.OnOrder, Do: "hang"}, {Label: "a", On: "eof", Do: "hang"}}}
	h := of(p.events)
	var fired []int
	for _, f := range h.Faults(plan) {
		fired = append(fired, f.Fired)
	}
	assert.Equal(t, []int{1, 1, 0}, fired)
	assert.Equal(t, record.Action("hang"), h.Server("a#1").Break().Do, "the fault that broke it, not the first one")
	p.born("a#2", "a", "", 2)
	p.fault("a#2", record.Fault{On: record.OnOrder, Do: record.DoExit})
	assert.Nil(t, of(p.events).Server("a#2").Break())
}

// TestStrikesInANamespace: a server in a pid namespace names its siblings by the pids that they have there.
func TestStrikesInANamespace(t *testing.T) {
	t.Parallel()
	born := func(p *tape, id string, pid, claimed int) {
		p.add(record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{Identity: record.Identity{PID: pid, Start: 5}, Label: "a", Launch: pid, Claimed: claimed}})
	}
	p := &tape{}
	born(p, "a#1", 101, 7)
	born(p, "a#2", 102, 8)
	born(p, "a#3", 7, 0)
	p.fault("a#2", record.Fault{Do: "kill-siblings", Targets: []int{7}})
	p.add(record.Event{Kind: record.Faulted, Server: "a#3", Fault: &record.Fault{Do: "kill-siblings", Targets: []int{102}}})
	p.add(record.Event{Kind: record.SawSignal, Server: "a#1", Signal: "SIGTERM"})
	h := of(p.events)
	assert.NotEqual(t, Never, h.Server("a#1").Broken)
	assert.NotEqual(t, Never, h.Server("a#2").Broken, "one outside sees the pid that all see")
	assert.NotEqual(t, Never, h.Server("a#3").Broken, "of one that claims no other pid it is the same")
}

// TestWhatEndsAHistory: what is not known may have been a death, and what comes after it is not looked at.
func TestWhatEndsAHistory(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.host(41)
	p.add(record.Event{Kind: record.HostReady})
	p.born("a#1", "a", "", 1)
	p.add(record.Event{Kind: "eaten", Server: "a#1"})
	p.is(record.Died, "a#1")
	h := of(p.events)
	assert.Equal(t, 2, h.Dropped())
	assert.True(t, h.Server("a#1").Alive())
	assert.Nil(t, h.End())
	assert.False(t, h.Done())
	live := New("")
	for i := range p.events {
		live.Apply(p.events[i])
	}
	assert.Equal(t, 1, live.Dropped(), "a run that is under way goes on")
	for reason, done := range map[record.EndReason]bool{record.EndDone: true, record.EndInterrupted: false, record.EndFailed: false} {
		p := &tape{}
		p.add(record.Event{Kind: record.Ended, End: &record.End{Reason: reason}})
		assert.Equal(t, done, of(p.events).Done())
		assert.Equal(t, reason, of(p.events).End().Reason)
	}
}

// TestServersBehindALauncherThatWasLeft are of the life that left it, and so are those that report late themselves.
func TestServersBehindALauncherThatWasLeft(t *testing.T) {
	t.Parallel()
	p := started()
	p.exit(0)
	left := row(60, 9, "S")
	left.PGID, left.SID = 60, 0
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{left, row(101, 9, "S"), row(70, 9, "Z")}})
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 51, Start: 51}, PPID: 9, PGID: 50, SID: 8}})
	p.child("a#1", "s", 101, 9)  // it was left before it reported
	p.child("a#2", "s", 102, 60) // its launcher was
	p.child("a#3", "s", 103, 51)
	p.child("a#4", "s", 104, 70) // a zombie launches nothing: its pid is another's
	p.exit(0)
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{left, row(62, 9, "S")}})
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 55, Start: 55}, PPID: 9, PGID: 55, SID: 8}})
	p.child("a#5", "s", 105, 62)
	h := of1(p)
	var lives []int
	for _, s := range h.Servers() {
		lives = append(lives, s.Life)
	}
	assert.Equal(t, []int{1, 1, 2, 2, 2}, lives)
	leaver := func(p record.Process, life int, others ...record.Process) int {
		by := h.Leaver(p, RowsOf(&record.Census{Processes: append(others, p)}), life)
		if by == nil {
			return 0
		}
		return by.N
	}
	of := func(pid, ppid, pgid, sid int) record.Process {
		p := row(pid, ppid, "S")
		p.PGID, p.SID = pgid, sid
		return p
	}
	assert.Equal(t, 1, leaver(left, 3), "what is left twice was left by the first")
	assert.Equal(t, 0, leaver(left, 1), "a life has not left what it has itself")
	assert.Equal(t, 2, leaver(row(62, 9, "S"), 3))
	assert.Equal(t, 1, leaver(of(80, 9, 60, 8), 2))
	assert.Equal(t, 0, leaver(of(80, 9, 60, 8), 1))
	assert.Equal(t, 0, leaver(of(80, 9, 0, 0), 2), "no group is none")
	for _, shared := range []int{51, 50, 8, 9} {
		assert.Equal(t, 0, leaver(of(80, 9, shared, 8), 2), "%d is the later life's own, or the keeper's", shared)
	}
	assert.Equal(t, 1, leaver(of(82, 81, 0, 0), 2, of(81, 60, 0, 0), left), "below one that was left")
	assert.Equal(t, 0, leaver(of(82, 82, 0, 0), 2), "its own parent")
	assert.Equal(t, 0, leaver(of(82, 83, 0, 0), 2, of(83, 82, 0, 0)), "parents in a circle")
	assert.Equal(t, 1, leaver(of(82, 101, 0, 0), 2, of(101, 9, 0, 0)), "below a server of the first life")
	assert.Equal(t, 0, leaver(of(82, 103, 0, 0), 2, of(103, 9, 0, 0)), "below one of its own")
}

// TestOthersEndAsTheyDid: a state is that of the last look at a zombie, and a reap is that of the very process.
func TestOthersEndAsTheyDid(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.sample(row(7, 9, "R"))
	p.sample(row(7, 9, "S"))
	p.add(record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{row(8, 9, "S")}}})
	p.add(record.Event{Kind: record.BystanderSeen, Process: &record.Process{Identity: row(7, 9, "").Identity}, Exit: &record.Exit{}})
	p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: record.Identity{PID: 99}}, Exit: &record.Exit{}})
	others := of(p.events).Others(10)
	require.NotEmpty(t, others)
	for _, o := range others {
		assert.Equal(t, Never, o.Reaped)
		assert.NotEqual(t, record.StateZombie, o.State)
		if o.PID == 7 {
			assert.Equal(t, record.State("R"), o.State, "as it was first seen")
		}
	}
}

// TestRaces: servers are rivals where one open of their very session was under way while another one was.
func TestRaces(t *testing.T) {
	t.Parallel()
	step := func(p *tape, kind record.Kind, op record.Op, label, session string) {
		p.step(kind, record.Step{N: len(p.events), Op: op, Label: label, Session: session})
	}
	p := &tape{}
	p.born("a#1", "a", "s", 1) // before the race
	step(p, record.StepBegun, record.OpOpen, "a", "s")
	p.born("a#2", "a", "s", 2)
	p.born("a#3", "a", "t", 3)
	p.born("b#1", "b", "s", 11)
	step(p, record.StepBegun, record.OpCall, "a", "t")
	step(p, record.StepBegun, record.OpOpen, "a", "s")
	p.born("a#4", "a", "s", 4)
	step(p, record.StepBegun, record.OpOpen, "a", "s")
	p.born("a#5", "a", "s", 5)
	step(p, record.StepEnded, record.OpOpen, "a", "s")
	p.born("a#6", "a", "s", 6)
	step(p, record.StepEnded, record.OpCall, "a", "s")
	step(p, record.StepEnded, record.OpOpen, "a", "s")
	p.born("a#7", "a", "s", 7)
	step(p, record.StepEnded, record.OpOpen, "a", "s")
	p.born("a#8", "a", "s", 8) // after it
	// Another race, of the same session.
	step(p, record.StepBegun, record.OpOpen, "a", "s")
	step(p, record.StepBegun, record.OpOpen, "a", "s")
	p.born("a#9", "a", "s", 9)
	p.born("a#10", "a", "", 10) // its session is told later
	p.add(record.Event{Kind: record.RPC, Server: "a#10", RPC: &record.RPCInfo{Method: record.MethodInitialize, Phase: record.PhaseReceived, Session: "s", Own: true}})
	h := of(p.events)
	rivals := func(a, b string) bool { return Rivals(h.Server(a), h.Server(b)) }
	for _, id := range []string{"a#4", "a#5", "a#6", "a#7"} {
		assert.True(t, rivals("a#2", id), id)
	}
	for _, id := range []string{"a#1", "a#3", "b#1", "a#8", "a#9"} {
		assert.False(t, rivals("a#2", id), id)
	}
	assert.True(t, rivals("a#9", "a#10"))
	assert.False(t, rivals("a#1", "a#8"), "neither was in a race")
}

// TestALivingRivalTakesThePlaceOfADeadOne, if it works, and each takes one place.
func TestALivingRivalTakesThePlaceOfADeadOne(t *testing.T) {
	t.Parallel()
	race := func(words ...string) *History { // all are launched in one race
		p := &tape{}
		p.step(record.StepBegun, record.Step{N: 1, Op: record.OpOpen, Label: "a", Session: "s"})
		p.step(record.StepBegun, record.Step{N: 2, Op: record.OpOpen, Label: "a", Session: "s"})
		for i, w := range words {
			id := "a#" + string(rune('1'+i))
			p.born(id, "a", "s", i+1)
			if w != "mute" {
				p.rpc(id, record.MethodInitialize, "1", "", record.PhaseAnswered)
			}
			if w == "dead" {
				p.is(record.Died, id)
			}
		}
		return of(p.events)
	}
	for name, c := range map[string]struct {
		servers []string
		live    int
		extra   []string
		missing int
	}{
		"the newer of two":          {[]string{"", "", "dead"}, 1, []string{"a#1"}, 0},
		"two of three":              {[]string{"", "", "dead"}, 2, []string{}, 0},
		"one of three":              {[]string{"", "dead", ""}, 1, []string{"a#1"}, 0},
		"two dead, two alive":       {[]string{"", "", "dead", "dead"}, 2, []string{}, 0},
		"a mute one takes no place": {[]string{"mute", "dead"}, 1, []string{"a#1"}, 1},
	} {
		extra, missing := race(c.servers...).Reconcile([]record.Want{wantOf("a", "s", c.live)})
		assert.Equal(t, c.extra, ids(extra), name)
		assert.Len(t, missing, c.missing, name)
	}
}

// TestLaunchedTogether: a host may launch several for one connection, within a moment.
func TestLaunchedTogether(t *testing.T) {
	t.Parallel()
	const second = int64(1e9)
	course := func(at []int64, words ...string) *History {
		p := &tape{}
		for i, w := range words {
			id := "a#" + string(rune('1'+i))
			p.born(id, "a", "s", i+1)
			p.events[len(p.events)-1].T = at[i]
			if w != "mute" {
				p.rpc(id, record.MethodInitialize, "1", "", record.PhaseAnswered)
				p.events[len(p.events)-1].T = at[i]
			}
		}
		for i, w := range words {
			id := "a#" + string(rune('1'+i))
			switch w {
			case "dead":
				p.is(record.Died, id)
			case "broken":
				p.fault(id, record.Fault{On: record.OnOrder, Do: "hang", Breaks: true})
			default:
				continue
			}
			p.events[len(p.events)-1].T = 100 * second
		}
		return of(p.events)
	}
	together := func(live, n int) []record.Want {
		return []record.Want{{Label: "a", Session: "s", Live: live, Together: n}}
	}
	for name, c := range map[string]struct {
		at    []int64
		words []string
		wants []record.Want
		extra []string
	}{
		"two at once":                {[]int64{1 * second, 1*second + 5}, []string{"", ""}, together(1, 2), []string{}},
		"two at once, one declared":  {[]int64{1 * second, 1*second + 5}, []string{"", ""}, together(1, 1), []string{"a#1"}},
		"three at once, two allowed": {[]int64{1 * second, 1*second + 5, 1*second + 6}, []string{"", "", ""}, together(1, 2), []string{"a#1"}},
		"a moment apart":             {[]int64{1 * second, 4 * second}, []string{"", ""}, together(1, 2), []string{"a#1"}},
		"one is broken":              {[]int64{1 * second, 1*second + 5}, []string{"broken", ""}, together(1, 2), []string{"a#1"}},
		"one never shook hands":      {[]int64{1 * second, 1*second + 5}, []string{"mute", ""}, together(1, 2), []string{"a#1"}},
		"the newest is dead":         {[]int64{1 * second, 1*second + 5}, []string{"", "dead"}, together(1, 2), []string{"a#1"}},
		"none is wanted":             {[]int64{1 * second, 1*second + 5}, []string{"", ""}, together(0, 2), []string{"a#1", "a#2"}},
		"nothing was launched":       {nil, nil, together(1, 2), []string{}},
	} {
		extra, _ := course(c.at, c.words...).Reconcile(c.wants)
		assert.Equal(t, c.extra, ids(extra), name)
	}
	older := course([]int64{1 * second, 2 * second, 9 * second}, "", "", "dead")
	extra, _ := older.Reconcile([]record.Want{{Label: "a", Session: "s", Live: 2, Together: 3}})
	assert.Equal(t, []string{}, ids(extra), "the one that is allowed and lives has another one of its moment, which is older")
}

// TestEarlierLivesAreInNoGroup: their sessions ended with them.
func TestEarlierLivesAreInNoGroup(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.host(41)
	p.born("a#1", "a", "s", 1)
	p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
	wants := []record.Want{wantOf("a", "s", 1)}
	extra, missing := of(p.events).Reconcile(wants)
	assert.Empty(t, extra)
	assert.Empty(t, missing)
	p.exit(0)
	p.host(42)
	extra, missing = of(p.events).Reconcile(wants)
	assert.Equal(t, []string{"a#1"}, ids(extra))
	assert.Len(t, missing, 1)
	p.born("a#2", "a", "s", 2)
	p.rpc("a#2", record.MethodInitialize, "1", "", record.PhaseAnswered)
	extra, missing = of(p.events).Reconcile(wants)
	assert.Equal(t, []string{"a#1"}, ids(extra))
	assert.Empty(t, missing)
}

// TestNoProbe: what stands beside a server that is not its session's own working one is the session's own.
func TestNoProbe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		label, session string
		course         func(p *tape)
		probe          bool
	}{
		"beside one":                            {"a", "s", func(*tape) {}, true},
		"beside another label's":                {"b", "s", func(*tape) {}, false},
		"beside another session's":              {"a", "t", func(*tape) {}, false},
		"beside one that never shook hands":     {"a", "mute", func(*tape) {}, false},
		"beside one that was told to end later": {"a", "s", func(p *tape) { p.is(record.SawEOF, "o#1") }, true},
		"beside one that broke later":           {"a", "s", func(p *tape) { p.fault("o#1", record.Fault{On: "order", Do: "hang", Breaks: true}) }, true},
		"beside one that died later":            {"a", "s", func(p *tape) { p.is(record.Died, "o#1") }, true},
		"its session closed and did not open": {"a", "s", func(p *tape) {
			p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: record.SessionOpening}})
		}, true},
		"its session was not opened in between": {"a", "s", func(*tape) {}, true},
	} {
		p := &tape{}
		own := c.session
		if own == "mute" {
			own = "s"
		}
		p.add(record.Event{Kind: record.Born, Server: "o#1", Birth: &record.Birth{Identity: record.Identity{PID: 50, Start: 5}, Label: "a", Session: "s", Launch: 1}})
		if c.session != "mute" {
			p.rpc("o#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
		}
		p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: record.SessionOpen}})
		p.born("p#1", c.label, own, 1)
		p.rpc("p#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
		p.is(record.SawEOF, "p#1")
		c.course(p)
		p.is(record.Died, "p#1")
		h := of(p.events)
		assert.Equal(t, c.probe, h.Probe(h.Server("p#1")), name)
	}
	// The older of two is no probe beside the younger, and one of another life is in no session of this one.
	p := &tape{}
	p.born("a#1", "a", "s", 1)
	p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
	p.born("a#2", "a", "s", 2)
	p.rpc("a#2", record.MethodInitialize, "1", "", record.PhaseAnswered)
	p.is(record.SawEOF, "a#1")
	p.is(record.Died, "a#1")
	h := of(p.events)
	assert.False(t, h.Probe(h.Server("a#1")))
	p = &tape{}
	p.host(41)
	p.born("a#1", "a", "s", 1)
	p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
	p.exit(0)
	p.host(42)
	p.born("a#2", "a", "s", 2)
	p.is(record.SawEOF, "a#2")
	p.is(record.Died, "a#2")
	h = of(p.events)
	assert.False(t, h.Probe(h.Server("a#2")))
	assert.False(t, h.Reopened(h.Server("a#1"), h.Server("a#2")), "nobody told of a session")
}

// TestCallsForASession: a server that several sessions share tells whose calls they are.
func TestCallsForASession(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "", 1)
	call := func(id, session string) {
		p.add(record.Event{Kind: record.RPC, Server: "a#1", RPC: &record.RPCInfo{Method: record.MethodCall, ID: id, Phase: record.PhaseReceived, Session: session}})
	}
	call("1", "s")
	call("2", "t")
	call("3", "")
	p.rpc("a#1", record.MethodCall, "9", "", record.PhaseAnswered)
	s := of(p.events).Server("a#1")
	ids := func(session string) (ids []string) {
		for _, c := range s.CallsFor(session) {
			ids = append(ids, c.ID)
			assert.Equal(t, Never, c.Answered)
		}
		return ids
	}
	assert.Equal(t, []string{"1"}, ids("s"))
	assert.Equal(t, []string{"2"}, ids("t"))
	assert.Equal(t, []string{"1", "2", "3"}, ids(""), "it is no session's own: all")
	assert.Empty(t, ids("u"))
	s.Session = "s"
	assert.Empty(t, ids(""))
	assert.Equal(t, []string{"1", "2", "3"}, ids("s"))
}

// TestAServerBecomesASessionsOwnOnce, and only where it says that it is.
func TestAServerBecomesASessionsOwnOnce(t *testing.T) {
	t.Parallel()
	p := &tape{}
	tell := func(id, session string, own bool) {
		p.add(record.Event{Kind: record.RPC, Server: id, RPC: &record.RPCInfo{Method: record.MethodInitialize, Phase: record.PhaseReceived, Session: session, Own: own}})
	}
	p.born("a#1", "a", "", 1)
	tell("a#1", "shared", false)
	tell("a#1", "s", true)
	tell("a#1", "t", true)
	assert.Equal(t, "s", of(p.events).Server("a#1").Session)
	// A call id that is used again is answered again.
	p.rpc("a#1", record.MethodCall, "1", "", record.PhaseReceived)
	first := p.rpc("a#1", record.MethodCall, "1", "", record.PhaseAnswered)
	p.rpc("a#1", record.MethodCall, "1", "", record.PhaseReceived)
	p.rpc("a#1", record.MethodCall, "1", "", record.PhaseReceived)
	second := p.rpc("a#1", record.MethodCall, "1", "", record.PhaseAnswered)
	calls := of(p.events).Server("a#1").Calls
	assert.Equal(t, []int64{first, second, Never}, []int64{calls[0].Answered, calls[1].Answered, calls[2].Answered})
}

// TestServersWithoutAnIdentity: where a birth has no start time, the pid must do.
func TestServersWithoutAnIdentity(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.add(record.Event{Kind: record.Born, Server: "a#1", Birth: &record.Birth{Identity: record.Identity{PID: 101}, Label: "a", Launch: 1}})
	p.born("a#2", "a", "", 2)
	h := of(p.events)
	assert.Equal(t, "a#1", h.ServerOf(record.Identity{PID: 101, Start: 77}).ID)
	assert.Equal(t, "a#2", h.ServerOf(record.Identity{PID: 102, Start: 5}).ID)
	assert.Nil(t, h.ServerOf(record.Identity{PID: 102, Start: 77}), "another process with its pid")
	p.is(record.Lost, "a#2")
	p.is(record.Died, "a#2")
	counts := of(p.events).Counts()
	assert.Len(t, counts, 3, "who is lost and dies then is gone once")
	assert.Equal(t, 1, counts[2].Live)
}

// TestStepsOfOneNumber: a repeat begins the same step again.
func TestStepsOfOneNumber(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.host(41)
	p.step(record.StepBegun, record.Step{N: 1, Op: record.OpCall, Session: "first"})
	p.step(record.StepBegun, record.Step{N: 1, Op: record.OpCall, Session: "second"})
	p.step(record.StepEnded, record.Step{N: 1, Op: record.OpCall, Session: "second", OK: true})
	ended := p.step(record.StepEnded, record.Step{N: 1, Op: record.OpCall, Session: "first", Expect: record.ExpectOK})
	again := p.step(record.StepBegun, record.Step{N: 1, Op: record.OpCall, Session: "third"})
	h := of(p.events)
	steps := h.Steps()
	require.Len(t, steps, 3)
	assert.Equal(t, []string{"first", "second", "third"}, []string{steps[0].Session, steps[1].Session, steps[2].Session})
	assert.Equal(t, ended, steps[0].Ended)
	assert.True(t, steps[0].Failed() && steps[0].MustWork())
	assert.False(t, steps[1].Failed(), "it worked")
	assert.Equal(t, again, steps[2].Begun)
	assert.Equal(t, Never, h.Host().AskedAt, "a call asks no host to end")
}

// TestWhenAServerWasBrokenOrAnswered: by a moment or after it; the first answer is not that of a call that nobody answered.
func TestWhenAServerWasBrokenOrAnswered(t *testing.T) {
	t.Parallel()
	s := Server{Times: Times{Born: 3, Broken: Never}}
	assert.False(t, s.BrokenBy(5))
	s.Broken = 5
	assert.True(t, s.BrokenBy(5))
	assert.False(t, s.BrokenBy(4))
	assert.Equal(t, int64(3), s.FirstAnswer(), "it has answered nothing")
	s.Calls = []Call{{Received: 4, Answered: Never}}
	assert.Equal(t, int64(3), s.FirstAnswer())
	s.Calls = append([]Call{{Received: 4, Answered: 0}}, s.Calls...)
	assert.Zero(t, s.FirstAnswer())
	s.Calls = []Call{{Received: 4, Answered: Never}, {Received: 5, Answered: 7}, {Received: 6, Answered: 8}}
	assert.Equal(t, int64(7), s.FirstAnswer())
}
