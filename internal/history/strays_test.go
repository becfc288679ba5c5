package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestWhatAProcessStays has the odd courses: groups and pids that several have, and looks that show less than an earlier one.
func TestWhatAProcessStays(t *testing.T) {
	t.Parallel()
	started2 := func(p *tape, rows ...record.Process) {
		p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 51, Start: 51}, PPID: 9}})
		p.census(record.Census{Role: record.CensusStarted, Processes: append([]record.Process{row(51, 9, "S")}, rows...)})
	}
	hosted := func(pgid int) *tape { // an old file does not know the host's group: 0
		p := &tape{}
		host := inGroup(row(41, 9, "S"), pgid)
		p.add(record.Event{Kind: record.HostStarted, Process: &host})
		return p
	}
	for name, c := range map[string]struct {
		course func() *tape
		want   map[int]string
	}{
		"a helper of an earlier life is not the next one's own": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 41)
			p.sample(row(101, 41, "S"), row(201, 101, "S"))
			p.exit(0)
			started2(p, row(201, 9, "S"), row(202, 51, "S"))
			return p
		}, map[int]string{201: "helper of a#1", 202: "host"}},
		"what is unknown keeps its nearest server in the next life": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 41)
			p.sample(row(201, 41, "S"))
			p.exit(0)
			started2(p, row(201, 9, "S"))
			return p
		}, map[int]string{201: "unknown, after a#1"}},
		"the parent that a server has in its own pid namespace is another process": {func() *tape {
			p := started()
			p.add(record.Event{Kind: record.Born, Server: "a#1", Birth: &record.Birth{
				Identity: record.Identity{PID: 101, Start: 101}, PPID: 50, Label: "a", Session: "s", Launch: 1, Claimed: 7,
			}})
			p.sample(row(50, 41, "S"), row(100, 41, "S"), row(101, 100, "S"))
			return p
		}, map[int]string{50: "unknown", 100: "launcher of a#1"}},
		"a launcher may be as old as its server, to the tick": {func() *tape {
			p := started()
			p.child("a#1", "s", 100, 99)
			launcher := row(99, 41, "S")
			launcher.Start = 100
			p.sample(launcher)
			h := of1(p)
			assert.Equal(t, PartLauncher, h.AttributionOf(launcher.Identity).Part)
			return p
		}, nil},
		"what stands above a server has not launched what that one launches": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.child("a#2", "t", 102, 101)
			p.sample(row(100, 41, "S"), row(101, 100, "S"), row(102, 101, "S"))
			return p
		}, map[int]string{100: "launcher of a#1"}},
		"a look may show a child before its parent": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 41)
			p.sample(row(203, 202, "S"), row(202, 201, "S"), row(201, 101, "S"), row(101, 41, "S"))
			return p
		}, map[int]string{201: "helper of a#1", 202: "helper of a#1", 203: "helper of a#1"}},
		"what it is below counts for more than its group": {func() *tape {
			p := started()
			p.bornBelow("a#1", "s", 1, 101, 41, 101)
			p.bornBelow("a#2", "t", 2, 102, 41, 102)
			p.sample(row(102, 41, "S"), inGroup(row(201, 102, "S"), 101))
			return p
		}, map[int]string{201: "helper of a#2"}},
		"a server in the host's group has no helpers by it": {func() *tape {
			p := hosted(40)
			p.bornBelow("a#1", "s", 1, 101, 41, 40)
			p.sample(inGroup(row(201, 9, "S"), 40))
			return p
		}, map[int]string{201: "unknown, after a#1"}},
		"nor has one in the group that the host leads": {func() *tape {
			p := hosted(0)
			p.bornBelow("a#1", "s", 1, 101, 41, 41)
			p.sample(inGroup(row(201, 9, "S"), 41))
			return p
		}, map[int]string{201: "unknown, after a#1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := of1(c.course())
			for pid, want := range c.want {
				assert.Equal(t, want, belongs(h, pid), "%d", pid)
			}
		})
	}
}

// TestWhoseChild: what a server has started, and what that has, is the server's own; what its launcher has started may be the host's.
func TestWhoseChild(t *testing.T) {
	t.Parallel()
	p := started()
	p.child("a#1", "s", 101, 100)
	p.sample(row(100, 41, "S"), row(101, 100, "S"), row(201, 101, "S"), row(202, 201, "S"), row(203, 100, "S"), row(204, 203, "S"))
	h := of1(p)
	for pid, direct := range map[int]bool{201: true, 202: true, 203: false, 204: false} {
		assert.Equal(t, direct, h.AttributionOf(row(pid, 0, "").Identity).Direct, "%d", pid)
	}
	assert.True(t, h.Attributed(1), "the host had nothing but itself, and that was seen")
}

// strayPIDs are those of a look at a run that is told so far, which is of the two processes of the host and of more.
func strayPIDs(p *tape, wants []record.Want, rows ...record.Process) (pids []int) {
	for _, s := range of1(p).Strays(wants, append([]record.Process{row(41, 9, "S"), row(42, 41, "S")}, rows...)) {
		pids = append(pids, s.PID)
	}
	return pids
}

// besideSessions is a run in which the host has started a process beside each of four servers, of which all but the last have ended.
func besideSessions(role record.CensusRole, args ...string) (p *tape, beside []record.Process) {
	p = started(row(42, 41, "S"))
	p.events[1].Census.Role = role
	for i, id := range []string{"a#1", "a#2", "a#3", "a#4"} {
		p.bornBelow(id, "s", i+1, 100+10*i, 41, 0)
		p.rpc(id, record.MethodInitialize, "1", "", record.PhaseAnswered)
		if i < 3 {
			p.is(record.SawEOF, id)
			p.is(record.Died, id)
		}
		beside = append(beside, withArgs(row(105+10*i, 41, "S"), args...))
	}
	p.sample(append([]record.Process{row(42, 41, "S")}, beside...)...)
	return p, beside
}

// TestWhoIsNoStray: what a look shows is no stray where it is another life's, a zombie, or not known to be more than the host needs.
func TestWhoIsNoStray(t *testing.T) {
	t.Parallel()
	open := []record.Want{wantOf("a", "s", 1)}
	p, beside := besideSessions(record.CensusStarted)
	assert.Equal(t, []int{105, 115, 125}, strayPIDs(p, open, beside...))
	p.sample(row(42, 41, "S"), row(60, 41, "S"))
	assert.Equal(t, []int{105, 115, 125}, strayPIDs(p, open, append(beside, row(60, 41, "S"))...), "one that is older than all servers")
	p.exit(0)
	assert.Empty(t, strayPIDs(p, open, beside...), "the host has ended")
	p.census(record.Census{Role: record.CensusHandover, Processes: beside})
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 51, Start: 151}, PPID: 9}})
	p.census(record.Census{Role: record.CensusStarted, Processes: append([]record.Process{row(51, 9, "S")}, beside...)})
	assert.Empty(t, strayPIDs(p, open, beside...), "an earlier life has left them")

	p, beside = besideSessions(record.CensusSample)
	assert.Empty(t, strayPIDs(p, open, beside...), "it was not seen what the host had at its start")
	p, beside = besideSessions(record.CensusStarted, "sh", "-c", "server --run r1")
	assert.Empty(t, strayPIDs(p, open, beside...), "what carries the arguments of a server is counted as one")

	p = started(row(42, 41, "S"))
	p.child("a#1", "t", 101, 100)
	p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
	p.sample(row(42, 41, "S"), row(100, 41, "S"), row(101, 100, "S"), row(102, 101, "S"))
	p.is(record.Died, "a#1")
	launcher, helper := row(100, 41, "S"), row(102, 9, "S")
	assert.Equal(t, []int{100, 102}, strayPIDs(p, open, launcher, helper))
	assert.Equal(t, []int{102}, strayPIDs(p, open, row(100, 41, "Z"), helper), "a zombie that was a launcher")
	assert.Empty(t, strayPIDs(p, []record.Want{wantOf("a", "t", 1)}, launcher, helper), "their server should live: its loss is the breach")
	events := p.events
	p.exit(0)
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 51, Start: 51}, PPID: 9}})
	p.census(record.Census{Role: record.CensusStarted, Processes: []record.Process{row(51, 9, "S")}})
	assert.Empty(t, strayPIDs(p, open, launcher, helper), "their server was an earlier life's")
	p = &tape{events: events}
	p.events[1].Census.Role = record.CensusSample
	assert.Empty(t, strayPIDs(p, open, launcher), "a launcher may be the host's own, where that was not seen")
}

// TestStraysOfALeak: who lives beside a server that lives and should not is a stray like it.
func TestStraysOfALeak(t *testing.T) {
	t.Parallel()
	p, beside := besideSessions(record.CensusStarted)
	p.bornBelow("a#5", "s", 5, 140, 41, 0)
	p.rpc("a#5", record.MethodInitialize, "1", "", record.PhaseAnswered)
	assert.Equal(t, []int{105, 115, 125, 135}, strayPIDs(p, []record.Want{wantOf("a", "s", 1)}, beside...))
}

// TestHostPartsOfAnOldFile: where it was not seen what the host had at its start, not even the host is told from the rest.
func TestHostPartsOfAnOldFile(t *testing.T) {
	t.Parallel()
	p := started()
	rows := []record.Process{row(41, 9, "S")}
	assert.Equal(t, rows, of1(p).HostParts(rows))
	p.events[1].Census.Role = record.CensusSample
	assert.Empty(t, of1(p).HostParts(rows))
}
