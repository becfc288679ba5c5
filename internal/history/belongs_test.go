package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// belongs is what a process belongs to, in words: "helper of a#1", "unknown, after a#2".
func belongs(h *History, pid int) string {
	a := h.AttributionOf(record.Identity{PID: pid, Start: uint64(pid)})
	text := map[Part]string{PartUnknown: "unknown", PartHost: "host", PartServer: "server", PartLauncher: "launcher", PartHelper: "helper"}[a.Part]
	if a.Server != nil {
		text += " of " + a.Server.ID
	}
	if a.Near != nil {
		text += ", after " + a.Near.ID
	}
	return text
}

func of1(p *tape) *History {
	return Of(&record.Run{Header: record.Header{ID: "r1"}, Events: p.events})
}

// started is a tape on which the host, pid 41 below the keeper 9, has come up, and what is there then.
func started(rows ...record.Process) *tape {
	p := &tape{}
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 41, Start: 41}, PPID: 9, PGID: 41, SID: 8}})
	p.census(record.Census{Role: record.CensusStarted, Processes: append([]record.Process{row(41, 9, "S")}, rows...)})
	return p
}

func (p *tape) sample(rows ...record.Process) {
	p.census(record.Census{Role: record.CensusSample, Processes: append([]record.Process{row(41, 9, "S")}, rows...)})
}

// child is a server of label a; its pid is also its start time, so that a greater pid is a younger process.
func (p *tape) child(id, session string, pid, ppid int) {
	p.bornBelow(id, session, len(p.events), pid, ppid, 0)
}

func withArgs(p record.Process, args ...string) record.Process {
	p.Args = args
	return p
}

// TestWhatAProcessBelongsTo has one course for each way in which a process can come to be below the keeper.
func TestWhatAProcessBelongsTo(t *testing.T) {
	t.Parallel()
	helps := func(pid int, args ...string) record.Process {
		return withArgs(row(pid, 9, "S"), append([]string{"lb", "fakehelper", "r1"}, args...)...)
	}
	for name, c := range map[string]struct {
		course func() *tape
		want   map[int]string
	}{
		"what the host has when it comes up is its own, but for servers and what is below them": {func() *tape {
			p := &tape{}
			p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 41, Start: 41}, PPID: 9}})
			p.child("a#1", "s", 101, 41)
			p.census(record.Census{Role: record.CensusStarted, Processes: []record.Process{
				row(41, 9, "S"), row(42, 41, "S"), row(43, 42, "S"), row(101, 41, "S"), row(102, 101, "S"), row(103, 102, "S"),
				withArgs(row(104, 41, "S"), "npx", "server --run r1"),
			}})
			return p
		}, map[int]string{41: "host", 42: "host", 43: "host", 101: "server of a#1", 102: "helper of a#1", 103: "helper of a#1", 104: "unknown, after a#1"}},
		"what an earlier life has left is not the next one's own": {func() *tape {
			p := started()
			p.exit(0)
			p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{row(60, 9, "S")}})
			p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 51, Start: 51}, PPID: 9}})
			p.census(record.Census{Role: record.CensusStarted, Processes: []record.Process{row(51, 9, "S"), row(60, 9, "S"), row(61, 51, "S")}})
			return p
		}, map[int]string{41: "host", 51: "host", 60: "unknown", 61: "host"}},
		"all that stands between the host and a server has launched it": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.sample(row(98, 41, "S"), row(99, 98, "S"), row(100, 99, "S"), row(101, 100, "S"), row(97, 41, "S"))
			return p
		}, map[int]string{97: "unknown", 98: "launcher of a#1", 99: "launcher of a#1", 100: "launcher of a#1"}},
		"a launcher is one also when its server is gone": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.is(record.Died, "a#1")
			p.sample(row(100, 41, "S"))
			return p
		}, map[int]string{100: "launcher of a#1"}},
		"a process that is younger than a server has not launched it: it has got the pid of one": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 200)
			p.sample(row(101, 41, "S"), row(200, 41, "S"))
			return p
		}, map[int]string{200: "unknown, after a#1"}},
		"the keeper launches nothing": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 9)
			p.sample(row(9, 1, "S"), row(101, 9, "S"), row(1, 0, "S"))
			return p
		}, map[int]string{9: "unknown", 1: "unknown"}},
		"who launches for two sessions, or for two labels, is a part of the host": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.child("a#2", "t", 102, 100)
			p.child("a#3", "s", 111, 110)
			p.add(record.Event{Kind: record.Born, Server: "b#1", Birth: &record.Birth{Identity: record.Identity{PID: 112, Start: 112}, PPID: 110, Label: "b", Session: "s", Launch: 1}})
			p.sample(row(100, 41, "S"), row(110, 41, "S"))
			return p
		}, map[int]string{100: "host", 110: "host"}},
		"of several launches for one session the newest counts": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.child("a#2", "s", 102, 100)
			p.sample(row(100, 41, "S"), row(101, 100, "S"), row(102, 100, "S"))
			p.sample(row(100, 41, "S"), row(102, 100, "S"), row(101, 100, "S"))
			return p
		}, map[int]string{100: "launcher of a#2"}},
		"a server that launches another one is a server": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 41)
			p.child("a#2", "t", 102, 101)
			p.sample(row(101, 41, "S"), row(102, 101, "S"))
			return p
		}, map[int]string{101: "server of a#1", 102: "server of a#2"}},
		"a zombie has launched nothing, but is what stands above it": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.sample(row(100, 41, "Z"), row(101, 9, "S"), row(102, 101, "Z"))
			return p
		}, map[int]string{100: "unknown", 102: "helper of a#1"}},
		"a helper says whose it is": {func() *tape {
			p := started()
			p.bornBelow("a#1", "s", 1, 101, 41, 0)
			p.bornBelow("a#2", "s", 2, 102, 41, 0)
			p.sample(helps(201, "--label", "a", "--launch", "2"), helps(202, "--launch", "1", "--label", "a"),
				helps(203, "--label", "a", "--launch"), helps(204, "--label", "b", "--launch", "1"),
				withArgs(row(205, 9, "S"), "lb", "fakehelper", "another run", "--label", "a", "--launch", "1"),
				withArgs(row(206, 9, "S"), "lb", "other", "r1", "--label", "a", "--launch", "1"), withArgs(row(207, 9, "S"), "fakehelper"))
			return p
		}, map[int]string{
			201: "helper of a#2", 202: "helper of a#1", 203: "unknown, after a#2", 204: "unknown, after a#2", 205: "unknown, after a#2",
			206: "unknown, after a#2", 207: "unknown, after a#2",
		}},
		"who is in the group of a server is its helper, unless the group is the host's": {func() *tape {
			p := started()
			p.bornBelow("a#1", "s", 1, 101, 41, 101)
			p.bornBelow("a#2", "s", 2, 102, 41, 41)
			p.bornBelow("a#3", "s", 3, 103, 41, 1)
			p.add(record.Event{Kind: record.Born, Server: "a#4", Birth: &record.Birth{Identity: record.Identity{PID: 104, Start: 104}, PPID: 41, PGID: 44, Label: "a", Launch: 4, Claimed: 7}})
			p.sample(inGroup(row(201, 9, "S"), 101), inGroup(row(202, 9, "S"), 41), inGroup(row(203, 9, "S"), 1), inGroup(row(204, 9, "S"), 44))
			return p
		}, map[int]string{201: "helper of a#1", 202: "unknown, after a#4", 203: "unknown, after a#4", 204: "unknown, after a#4"}},
		"nearest is the newest server of this life that is older": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 41)
			p.exit(0)
			p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 151, Start: 151}, PPID: 9}})
			p.child("a#2", "s", 160, 151)
			p.child("a#3", "s", 180, 151)
			p.census(record.Census{Role: record.CensusSample, Processes: []record.Process{row(155, 151, "S"), row(170, 151, "S"), row(190, 151, "S")}})
			p.child("a#4", "s", 195, 151)
			p.census(record.Census{Role: record.CensusSample, Processes: []record.Process{row(190, 151, "S")}})
			return p
		}, map[int]string{155: "unknown", 170: "unknown, after a#2", 190: "unknown, after a#3"}},
		"parents that go round in a circle have no end, and are nobody's": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 100)
			p.sample(row(201, 202, "S"), row(202, 201, "S"), row(203, 203, "S"))
			return p
		}, map[int]string{201: "unknown, after a#1", 202: "unknown, after a#1", 203: "unknown, after a#1"}},
		"what was unknown is a helper once it is seen below one": {func() *tape {
			p := started()
			p.child("a#1", "s", 101, 41)
			p.sample(row(201, 9, "S"))
			p.sample(row(101, 41, "S"), row(201, 101, "S"))
			p.sample(row(201, 9, "S"))
			return p
		}, map[int]string{201: "helper of a#1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := of1(c.course())
			got := map[int]string{}
			for pid := range c.want {
				got[pid] = belongs(h, pid)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestWhoIsAStray has what a look shows below a living host, and which of it should be gone.
func TestWhoIsAStray(t *testing.T) {
	t.Parallel()
	open := []record.Want{wantOf("a", "s", 1)}
	// Two sessions were served behind launchers; the first one has ended.
	served := func() *tape {
		p := started(row(42, 41, "S"))
		p.bornBelow("a#1", "t", 1, 101, 100, 0)
		p.bornBelow("a#2", "s", 2, 121, 120, 0)
		p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
		p.rpc("a#2", record.MethodInitialize, "1", "", record.PhaseAnswered)
		return p
	}
	launchers := []record.Process{row(100, 41, "S"), row(120, 41, "S")}
	for name, c := range map[string]struct {
		course func() *tape
		wants  []record.Want
		rows   []record.Process
		want   []int
	}{
		"the launcher of one that has ended":        {func() *tape { p := served(); p.is(record.Died, "a#1"); return p }, open, launchers, []int{100}},
		"the server still lives: it is the leak":    {served, open, launchers, nil},
		"its server may live, and has died":         {func() *tape { p := served(); p.is(record.Died, "a#2"); return p }, open, launchers[1:], nil},
		"a zombie waits to be reaped, that is L4's": {func() *tape { p := served(); p.is(record.Died, "a#1"); return p }, open, []record.Process{row(100, 41, "Z")}, nil},
		"a helper of one that has ended":            {func() *tape { p := served(); p.is(record.Died, "a#1"); return p }, open, []record.Process{row(130, 100, "S"), row(100, 41, "S")}, []int{130, 100}},
		"the sessions of its label are not known":   {func() *tape { p := served(); p.is(record.Died, "a#1"); return p }, []record.Want{atMost(want("a", 1))}, launchers, nil},
		"those of another label are not known":      {func() *tape { p := served(); p.is(record.Died, "a#1"); return p }, append([]record.Want{atMost(want("b", 1))}, open...), launchers, []int{100}},
		"what carries the arguments of a server is L1's": {func() *tape { p := served(); p.is(record.Died, "a#1"); return p }, open, []record.Process{
			withArgs(row(140, 41, "S"), "sh", "-c", "server r1"), withArgs(row(141, 41, "S"), "sh", "-c", "server r1"), withArgs(row(142, 41, "S"), "sh", "-c", "server r1"),
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.course()
			rows := append([]record.Process{row(41, 9, "S"), row(42, 41, "S")}, c.rows...)
			p.sample(rows[1:]...)
			var pids []int
			for _, s := range of1(p).Strays(c.wants, rows) {
				pids = append(pids, s.PID)
			}
			assert.Equal(t, c.want, pids)
		})
	}
}

// TestOneForEachSession: what the host starts beside each session, and does not end with it, is told where there is more of it than
// sessions are open, one more and what replaces the host's own left out.
func TestOneForEachSession(t *testing.T) {
	t.Parallel()
	// Sessions 1 to n were opened one after the other, with a process beside each, and all but the last have ended.
	course := func(n int, last bool) (*tape, []record.Process) {
		p := started(row(42, 41, "S"))
		rows := []record.Process{row(41, 9, "S"), row(42, 41, "S")}
		for i := range n {
			id := string(rune('a'+i)) + "#1"
			p.add(record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{
				Identity: record.Identity{PID: 100 + 10*i, Start: uint64(100 + 10*i)}, PPID: 41, Label: "a", Session: "s", Launch: i + 1,
			}})
			p.rpc(id, record.MethodInitialize, "1", "", record.PhaseAnswered)
			if i < n-1 || !last {
				p.is(record.Died, id)
			}
			rows = append(rows, row(105+10*i, 41, "S"))
		}
		p.sample(rows[1:]...)
		return p, rows
	}
	strays := func(p *tape, rows []record.Process, wants ...record.Want) (pids []int) {
		for _, s := range of1(p).Strays(wants, rows) {
			pids = append(pids, s.PID)
		}
		return pids
	}
	p, rows := course(4, true)
	assert.Equal(t, []int{105, 115, 125}, strays(p, rows, wantOf("a", "s", 1)), "the one of the open session may be there")
	p, rows = course(3, true)
	assert.Equal(t, []int{105, 115}, strays(p, rows, wantOf("a", "s", 1)))
	p, rows = course(2, true)
	assert.Empty(t, strays(p, rows, wantOf("a", "s", 1)), "one more than the session may be a worker")
	p, rows = course(2, false)
	assert.Equal(t, []int{105, 115}, strays(p, rows, wantOf("a", "s", 1)), "no session is open any more")
	p, rows = course(1, false)
	assert.Empty(t, strays(p, rows, wantOf("a", "s", 1)))
	p, rows = course(3, true)
	gone := append([]record.Process{rows[0]}, rows[2:]...)
	assert.Empty(t, strays(p, gone, wantOf("a", "s", 1)), "one of the host's own is gone, so one of these may have replaced it")
	zombie := append([]record.Process{rows[0], row(42, 41, "Z")}, rows[2:]...)
	assert.Empty(t, strays(p, zombie, wantOf("a", "s", 1)), "a zombie is gone, too")
	p, rows = course(3, true)
	assert.Empty(t, strays(p, rows, atMost(want("a", 1))), "where sessions are not known there is nothing to count")
	assert.NotEmpty(t, strays(p, rows, wantOf("a", "s", 1), atMost(want("b", 1))))
}

// TestLateOnes: what the keeper reaps or sweeps after the host's exit, and what no look has seen.
func TestLateOnes(t *testing.T) {
	t.Parallel()
	reap := func(p *tape, pid int) int64 {
		return p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: record.Identity{PID: pid, Start: uint64(pid)}}, Exit: &record.Exit{}})
	}
	sweep := func(p *tape, rows ...record.Process) int64 {
		return p.add(record.Event{Kind: record.Swept, Census: &record.Census{Processes: rows}})
	}
	p := &tape{}
	reap(p, 70) // before there is a host
	p.events = append(p.events, started(row(42, 41, "S")).events...)
	for i := range p.events {
		p.events[i].Seq, p.events[i].T = int64(i+1), int64(i+1)
	}
	p.child("a#1", "s", 101, 41)
	reap(p, 71) // while the host lives
	p.exit(0)
	late := reap(p, 72)
	reap(p, 42)  // it was seen
	reap(p, 101) // a server
	reap(p, 41)  // the host
	p.add(record.Event{Kind: record.Reaped})
	swept := sweep(p, row(73, 9, "S"), row(74, 9, "Z"), row(42, 9, "S"))
	h := of1(p)
	require.Len(t, h.Late(), 2)
	assert.Equal(t, []int{72, 73}, []int{h.Late()[0].PID, h.Late()[1].PID})
	assert.Equal(t, []int64{late, swept}, []int64{h.Late()[0].T, h.Late()[1].T})
	assert.Len(t, h.Swept(), 3)
	assert.True(t, h.Outlasted(h.Server("a#1")))
}

// TestHostParts: the host and what it had when it came up; an old file does not tell.
func TestHostParts(t *testing.T) {
	t.Parallel()
	rows := []record.Process{row(41, 9, "S"), row(42, 41, "S"), row(43, 41, "S")}
	p := started(row(42, 41, "S"))
	p.sample(rows[1:]...)
	assert.Equal(t, rows[:2], of1(p).HostParts(rows))
	p = &tape{}
	p.host(41)
	p.sample(rows[1:]...)
	assert.Empty(t, of1(p).HostParts(rows))
}
