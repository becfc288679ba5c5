package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

func (p *tape) host(pid int) int64 {
	return p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: pid, Start: 1}, PPID: 9, SID: 8}})
}

func (p *tape) exit(code int) int64 {
	return p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: code}})
}

func (p *tape) step(kind record.Kind, s record.Step) int64 {
	return p.add(record.Event{Kind: kind, Step: &s})
}

func (p *tape) census(c record.Census) int64 {
	return p.add(record.Event{Kind: record.CensusTaken, Census: &c})
}

func (p *tape) checkpoint(kind record.Kind, cp record.Checkpoint) int64 {
	return p.add(record.Event{Kind: kind, Checkpoint: &cp})
}

func row(pid, ppid int, state record.State) record.Process {
	return record.Process{Identity: record.Identity{PID: pid, Start: uint64(pid)}, PPID: ppid, State: state, RSS: 10, FDs: 3}
}

// TestHosts: each life has its own times, and what ends it first is what it was
// asked.
func TestHosts(t *testing.T) {
	t.Parallel()
	p := &tape{}
	h := of(nil)
	assert.Equal(t, Never, h.Host().Started, "there is always one to ask")
	assert.False(t, h.Host().Alive())

	first := p.host(41)
	asked := p.step(record.StepBegun, record.Step{N: 1, Op: record.OpTerm})
	p.step(record.StepBegun, record.Step{N: 2, Op: record.OpKill})
	exited := p.exit(3)
	second := p.host(42)
	h = of(p.events)
	require.Len(t, h.Hosts(), 2)
	assert.Equal(t, Host{
		Identity: record.Identity{PID: 41, Start: 1}, N: 1, SID: 8, Keeper: 9, Started: first, Exited: exited,
		Exit: record.Exit{Code: 3}, AskedAt: asked, AskedOp: record.OpTerm,
	}, *h.Hosts()[0])
	assert.True(t, h.Host().Alive())
	assert.Equal(t, 1, h.HostAt(0).N, "before the first one, that one")
	assert.Equal(t, 1, h.HostAt(second-1).N)
	assert.Equal(t, 2, h.HostAt(second).N)
	assert.True(t, h.IsHost(41) && h.IsHost(42) && !h.IsHost(43))
	assert.True(t, h.IsKeeper(9))
	assert.Equal(t, 2, h.HostOf(&Server{Life: 7}).N)
}

// TestAnExitMayBeToldFirst: that of a host that ends at once.
func TestAnExitMayBeToldFirst(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.exit(1)
	h := of(p.events)
	assert.Empty(t, h.Hosts())
	assert.Equal(t, 1, h.Host().Exit.Code)
	p.host(41)
	h = of(p.events)
	require.Len(t, h.Hosts(), 1)
	assert.False(t, h.Host().Alive())
}

// TestLeaverOfAGroup: what forks itself anew all the time is told by the group or
// the session that it stays in, unless that is the later life's, too.
func TestLeaverOfAGroup(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.host(41) // in session 8
	p.exit(0)
	left := row(60, 9, "S")
	left.PGID, left.SID = 60, 60
	own := row(61, 9, "S")
	own.PGID, own.SID = 41, 8
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{left, own}})
	p.host(42)
	h := of(p.events)
	for name, c := range map[string]struct {
		pgid, sid int
		left      bool
	}{
		"the session of one that was left": {70, 60, true}, "its group": {60, 8, true}, "the first life's own group": {41, 8, true},
		"the session of all of them": {70, 8, false}, "the later life's": {42, 8, false},
	} {
		p := row(70, 9, "S")
		p.PGID, p.SID = c.pgid, c.sid
		assert.Equal(t, c.left, h.Leaver(p, RowsOf(&record.Census{Processes: []record.Process{p}}), 2) != nil, name)
	}
}

// TestLeaver: what a life of the host has left, and what that has started, is
// not the next one's.
func TestLeaver(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.host(41)
	p.born("a#1", "a", "s", 1) // pid 101
	p.exit(0)
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{row(60, 9, "S"), row(61, 9, "Z")}})
	h := of(p.events)
	assert.Equal(t, 2, h.Life(), "the first one has handed over")
	p.host(42)
	p.born("a#2", "a", "s", 2) // pid 102
	h = of(p.events)
	assert.Equal(t, 2, h.Server("a#2").Life)
	all := RowsOf(&record.Census{Processes: []record.Process{row(60, 9, "S"), row(62, 60, "S"), row(63, 42, "S")}})
	for pid, left := range map[int]bool{60: true, 61: false, 62: true, 63: false} {
		by := h.Leaver(row(pid, map[int]int{62: 60, 63: 42}[pid], "S"), all, h.Life())
		assert.Equal(t, left, by != nil, "%d", pid)
	}
	server := record.Process{Identity: h.Server("a#1").Birth.Identity}
	assert.Equal(t, 1, h.Leaver(server, all, 2).N, "a server is of the life that launched it")
	assert.Nil(t, h.Leaver(server, all, 1))
}

func TestSteps(t *testing.T) {
	t.Parallel()
	p := &tape{}
	begun := p.step(record.StepBegun, record.Step{N: 1, Op: record.OpCall})
	p.step(record.StepBegun, record.Step{N: 2, Op: record.OpOpen, Expect: record.ExpectFail})
	p.step(record.StepBegun, record.Step{N: 3, Op: record.OpClose})
	ended := p.step(record.StepEnded, record.Step{N: 1, Op: record.OpCall, Error: "no"})
	p.step(record.StepSkipped, record.Step{N: 3, Op: record.OpClose, Error: "why"})
	alone := p.step(record.StepSkipped, record.Step{N: 7}) // it never began
	steps := of(p.events).Steps()
	require.Len(t, steps, 4)
	assert.Equal(t, Step{Step: record.Step{N: 7}, Begun: alone, Ended: alone, Skipped: true}, *steps[3])
	assert.Equal(t, Step{Step: record.Step{N: 1, Op: record.OpCall, Error: "no"}, Begun: begun, Ended: ended}, *steps[0])
	assert.True(t, steps[0].Failed() && steps[0].MustWork())
	assert.Equal(t, Never, steps[1].Ended)
	assert.False(t, steps[1].Failed() || steps[1].MustWork())
	assert.True(t, steps[2].Skipped)
	assert.False(t, steps[2].Failed())
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	p := &tape{}
	begun := p.checkpoint(record.CheckpointBegun, record.Checkpoint{Name: "c", Wants: []record.Want{{Label: "a", Live: 1}}})
	p.census(record.Census{Role: record.CensusConfirm, Checkpoint: "c"}) // before it has settled
	settled := p.census(record.Census{Role: record.CensusSettled, Checkpoint: "c", Processes: []record.Process{row(5, 1, "S"), row(6, 1, "Z")}})
	p.add(record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{{Process: row(5, 1, "S"), Wchan: "pipe"}}})
	confirm := p.census(record.Census{Role: record.CensusConfirm, Checkpoint: "c"})
	ended := p.checkpoint(record.CheckpointEnded, record.Checkpoint{Name: "c", Quiet: true, Waited: 7})
	p.census(record.Census{Role: record.CensusSettled, Checkpoint: "c"}) // it has ended
	p.checkpoint(record.CheckpointBegun, record.Checkpoint{Name: "c"})
	h := of(p.events)
	require.Len(t, h.Checkpoints(), 2)
	cp := h.Checkpoints()[0]
	assert.Equal(t, []int64{begun, settled, confirm, ended}, []int64{cp.Begun, cp.SettledAt, cp.ConfirmAt, cp.Ended})
	assert.Equal(t, settled, h.Events()[cp.SettledIndex].T)
	assert.Equal(t, begun, h.Events()[cp.BegunIndex].T)
	assert.True(t, cp.Quiet)
	assert.Equal(t, record.Duration(7), cp.Waited)
	assert.Len(t, cp.Wants, 1)
	id := row(5, 1, "S").Identity
	assert.True(t, cp.SettledRows.Alive(id) && cp.SettledRows.Alive(record.Identity{PID: 5}))
	assert.False(t, cp.SettledRows.Alive(row(6, 1, "Z").Identity) || cp.ConfirmRows.Alive(id))
	assert.Equal(t, "pipe", cp.EvidenceOn(id).Wchan)
	assert.Nil(t, cp.EvidenceOn(record.Identity{PID: 6}))
	assert.Equal(t, Never, h.Checkpoints()[1].Ended)
}

func TestSamples(t *testing.T) {
	t.Parallel()
	p := &tape{}
	host := row(41, 9, "S")
	carrier := row(7, 41, "S")
	carrier.Args = []string{"sh", "-c", "exec x --run r1"}
	at := p.census(record.Census{Role: record.CensusSample, Host: &host, Processes: []record.Process{host, carrier, row(8, 41, "Z")}})
	p.census(record.Census{Role: record.CensusSample, Processes: []record.Process{row(8, 41, "Z")}})
	h := Of(&record.Run{Header: record.Header{ID: "r1"}, Events: p.events})
	require.Len(t, h.Samples(), 2)
	assert.Equal(t, Sample{T: at, Host: &host, Zombies: 1, RSS: 20, FDs: 6}, h.Samples()[0])
	assert.Len(t, h.Censuses(), 2)
	since, seen := h.ZombieSince(row(8, 41, "Z").Identity)
	assert.True(t, seen)
	assert.Equal(t, at, since)
	assert.True(t, h.CarriedServer(7) && !h.CarriedServer(8))
	assert.False(t, IsServer(&carrier, "r1") || CarriesServer(&carrier, ""))

	live := New("r1")
	for _, e := range p.events {
		live.Apply(e)
	}
	assert.Empty(t, live.Samples(), "a history of a run under way keeps no censuses")
}

// TestFaults counts only what the plan means.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := &tape{}
	for n, id := range []string{"a#1", "a#2", "a#3", "a#4"} {
		p.born(id, "a", "", n+1)
		p.fault(id, record.Fault{On: record.OnEOF, Do: record.DoIgnore})
		p.fault(id, record.Fault{On: record.OnOrder, Do: record.DoExit, Breaks: true})
	}
	h := of(p.events)
	plan := record.Plan{Faults: []record.PlanFault{
		{Label: "a", On: record.OnEOF, Do: record.DoIgnore},
		{Label: "a", On: record.OnEOF, Do: record.DoIgnore, Launch: 2},
		{Label: "a", On: record.OnEOF, Do: record.DoIgnore, Every: 2},
		{Label: "a", On: record.OnTerm, Do: record.DoIgnore},
		{Label: "b", On: record.OnEOF, Do: record.DoIgnore},
	}}
	var fired []int
	for _, f := range h.Faults(plan) {
		fired = append(fired, f.Fired)
	}
	assert.Equal(t, []int{4, 1, 2, 0, 0}, fired)
}

func TestTheRest(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "", 1)
	p.born("a#2", "a", "", 2)
	p.add(record.Event{Kind: record.Lost, Server: "a#2", Text: "gone"})
	p.add(record.Event{Kind: record.HostReady, Hello: &record.Hello{Host: "h"}})
	p.add(record.Event{Kind: record.Controlled, Control: &record.Control{Label: "a", Exited: true}})
	p.add(record.Event{Kind: record.BystanderSeen, Process: &record.Process{}})
	p.add(record.Event{Kind: record.BystanderSeen, Process: &record.Process{}, Exit: &record.Exit{Signal: "SIGTERM"}})
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: "x"}})
	p.add(record.Event{Kind: record.Reaped}) // tells nothing, and is no loss
	p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: record.Identity{PID: 5}}, Exit: &record.Exit{}})
	p.add(record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{{Identity: record.Identity{PID: 102, Start: 5}}}}})
	assert.False(t, of(p.events).Done())
	last := p.add(record.Event{Kind: record.Ended, End: &record.End{Reason: record.EndDone}})
	h := of(p.events)
	assert.Equal(t, "h", h.Hello().Host)
	assert.True(t, h.Controls()["a"].Exited)
	assert.Len(t, h.Bystanders(), 1, "only those that ended")
	assert.Len(t, h.Doubts(), 1)
	assert.True(t, h.Outlasted(h.Server("a#1")), "it never died")
	assert.True(t, h.Outlasted(h.Server("a#2")), "it was swept")
	assert.Equal(t, h.Server("a#2"), h.ServerOf(record.Identity{PID: 102, Start: 5}))
	assert.Nil(t, h.ServerOf(record.Identity{PID: 102}))
	assert.True(t, h.Done())
	assert.Equal(t, last, h.Last())
	assert.Zero(t, h.Dropped())
}

// TestACutAtTheFirstInvalidEvent: what follows it may mean something else than it says.
func TestACutAtTheFirstInvalidEvent(t *testing.T) {
	t.Parallel()
	for name, invalid := range map[string]record.Event{
		"never born":      {Kind: record.Died, Server: "b#1"},
		"born twice":      {Kind: record.Born, Server: "a#1", Birth: &record.Birth{Label: "a", Launch: 1}},
		"an unknown kind": {Kind: "comet"},
		"no payload":      {Kind: record.CensusTaken},
	} {
		p := &tape{}
		p.born("a#1", "a", "", 1)
		p.add(invalid)
		p.is(record.Died, "a#1")
		h := of(p.events)
		assert.Equal(t, 2, h.Dropped(), name)
		assert.Len(t, h.Events(), 1, name)
		assert.True(t, h.Server("a#1").Alive(), name)
		assert.Len(t, p.events, 3, name)
	}
	p := &tape{}
	p.born("a#1", "a", "", 1)
	p.events = append(p.events, record.Event{T: p.events[0].T - 1, Kind: record.Bye, Server: "a#1"})
	assert.Equal(t, 1, of(p.events).Dropped(), "it is earlier")
}

// TestFaultsOfLaunchesThatOpen: a fault says by which number its launch was
// counted, where that is not the server's own.
func TestFaultsOfLaunchesThatOpen(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "", 1)
	p.born("a#4", "a", "", 4)
	p.fault("a#4", record.Fault{On: record.OnInitialize, Do: "reject", Launch: 2})
	h := of(p.events)
	for launch, fired := range map[int]int{1: 0, 2: 1, 4: 0} {
		plan := record.Plan{Faults: []record.PlanFault{{Label: "a", On: record.OnInitialize, Do: "reject", Launch: launch, Fires: 1}}}
		assert.Equal(t, fired, h.Faults(plan)[0].Fired, "%d", launch)
	}
	plan := record.Plan{Faults: []record.PlanFault{{Label: "a", On: record.OnInitialize, Do: "reject", Every: 4}}}
	assert.Zero(t, h.Faults(plan)[0].Fired)
}
