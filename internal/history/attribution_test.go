package history

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// bornBelow is a server with a parent and a process group.
func (p *tape) bornBelow(id, session string, launch, pid, ppid, pgid int) {
	p.add(record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{
		Identity: record.Identity{PID: pid, Start: uint64(pid)}, PPID: ppid, PGID: pgid, Label: "a", Session: session, Launch: launch,
	}})
}

func inGroup(p record.Process, pgid int) record.Process {
	p.PGID = pgid
	return p
}

// TestAttribution: what a process belongs to is found out by what stands above
// it, by what it has launched, and by its group, and is kept.
func TestAttribution(t *testing.T) {
	t.Parallel()
	helper := func(pid int) record.Process {
		p := row(pid, 9, "S")
		p.Args = []string{"lb", "fakehelper", "session", "--run", "r1", "--label", "a", "--launch", "1"}
		return p
	}
	p := &tape{}
	host := row(41, 9, "S")
	p.host(41)
	p.census(record.Census{Role: record.CensusStarted, Host: &host, Processes: []record.Process{row(41, 9, "S"), row(42, 41, "S"), row(43, 42, "S")}})
	p.bornBelow("a#1", "s", 1, 101, 100, 0)  // behind 99 and 100
	p.bornBelow("a#2", "t", 2, 121, 42, 121) // by the host's worker, in a group of its own
	p.bornBelow("a#3", "u", 3, 131, 130, 0)  // 130 launches servers of two sessions
	p.bornBelow("a#4", "v", 4, 132, 130, 0)
	p.census(record.Census{Role: record.CensusSample, Processes: []record.Process{
		row(41, 9, "S"), row(42, 41, "S"), row(43, 42, "S"),
		row(99, 41, "S"), row(100, 99, "S"), row(101, 100, "S"), row(102, 101, "S"), row(103, 100, "S"),
		row(110, 41, "S"), helper(111), row(121, 42, "S"), inGroup(row(122, 9, "S"), 121), row(130, 41, "S"), row(131, 130, "S"), row(132, 130, "S"),
	}})
	p.is(record.Died, "a#1")
	p.census(record.Census{Role: record.CensusSample, Processes: []record.Process{row(41, 9, "S"), row(99, 9, "S"), row(102, 9, "S"), row(104, 102, "S")}})
	h := Of(&record.Run{Header: record.Header{ID: "r1"}, Events: p.events})
	assert.True(t, h.Attributed(1) && !h.Attributed(2))
	for pid, want := range map[int]struct {
		part   Part
		server string
		near   string
	}{
		41: {part: PartHost}, 42: {part: PartHost}, 43: {part: PartHost}, 130: {part: PartHost},
		99: {PartLauncher, "a#1", ""}, 100: {PartLauncher, "a#1", ""}, 101: {PartServer, "a#1", ""},
		102: {PartHelper, "a#1", ""}, 103: {PartHelper, "a#1", ""}, 104: {PartHelper, "a#1", ""},
		111: {PartHelper, "a#1", ""},
		110: {PartUnknown, "", "a#1"}, 121: {PartServer, "a#2", ""}, 122: {PartHelper, "a#2", ""},
	} {
		id := record.Identity{PID: pid, Start: uint64(pid)}
		if pid == 41 {
			id = h.Host().Identity
		}
		a := h.AttributionOf(id)
		assert.Equal(t, want.part, a.Part, "%d", pid)
		for s, name := range map[*Server]string{a.Server: want.server, a.Near: want.near} {
			if s != nil {
				assert.Equal(t, name, s.ID, "%d", pid)
			}
		}
		assert.Equal(t, want.server != "", a.Server != nil, "%d", pid)
	}
	assert.Len(t, h.HostParts([]record.Process{row(42, 41, "S"), row(43, 42, "Z"), row(99, 9, "S"), row(110, 41, "S")}), 1)
}

// TestStrays: launchers and helpers of servers that are gone are strays where
// no want covers the server; what can't be attributed, where there is more of
// it than sessions.
func TestStrays(t *testing.T) {
	t.Parallel()
	tapeOf := func(sessions int) *tape {
		p := &tape{}
		p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 41, Start: 41}, PPID: 9}})
		p.census(record.Census{Role: record.CensusStarted, Processes: []record.Process{row(41, 9, "S"), row(42, 41, "S")}})
		for n := range sessions {
			id := fmt.Sprintf("a#%d", n+1)
			p.bornBelow(id, "s", n+1, 101+10*n, 100+10*n, 0)
			p.rpc(id, record.MethodInitialize, "1", "", record.PhaseAnswered)
			if n < sessions-1 {
				p.is(record.Died, id)
			}
		}
		return p
	}
	launchers := []record.Process{row(41, 9, "S"), row(42, 41, "S"), row(100, 41, "S"), row(110, 41, "S"), row(120, 41, "Z")}
	helpers := []record.Process{row(41, 9, "S"), row(42, 41, "S"), row(102, 41, "S"), row(112, 41, "S"), row(122, 41, "S"), row(132, 41, "S")}
	open := []record.Want{{Label: "a", Session: "s", Live: 1}}
	loose := []record.Want{{Label: "a", Live: 1, AtMost: true}}
	for name, c := range map[string]struct {
		sessions int
		wants    []record.Want
		rows     []record.Process
		pids     []int
	}{
		"launchers of ended ones":                          {3, open, launchers, []int{100, 110}},
		"the last one is dead and wanted":                  {1, open, launchers[:3], nil},
		"no sessions are known":                            {3, loose, launchers, nil},
		"a helper for each session":                        {4, open, helpers, []int{102, 112, 122}},
		"one helper more than there are sessions":          {2, open, helpers[:4], nil},
		"one of the host's own is gone, and another there": {3, open, append(helpers[:1:1], helpers[2:5]...), nil},
		"the host itself is no helper that it has lost":    {3, open, helpers[1:5], []int{102, 112}},
		"nothing is wanted, for the host is gone":          {4, nil, helpers, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := tapeOf(c.sessions)
			p.census(record.Census{Role: record.CensusSample, Processes: c.rows})
			h := of(p.events)
			var pids []int
			for _, s := range h.Strays(c.wants, c.rows) {
				pids = append(pids, s.PID)
			}
			assert.Equal(t, c.pids, pids)
		})
	}
	p := tapeOf(2)
	p.census(record.Census{Role: record.CensusSample, Processes: []record.Process{row(41, 9, "S"), row(111, 41, "S"), row(112, 111, "S"), row(113, 110, "S"), row(110, 41, "S")}})
	p.is(record.Died, "a#2")
	strays := of(p.events).Strays(loose, []record.Process{row(41, 9, "S"), row(112, 9, "S"), row(113, 9, "S"), row(110, 41, "S")})
	if assert.Len(t, strays, 1, "where no sessions are known, what launches servers may be the host") {
		assert.Equal(t, 112, strays[0].PID)
	}
	p = tapeOf(4)
	p.events[1].Census.Role = record.CensusSample
	assert.Empty(t, of(p.events).Strays(open, launchers), "an old file")
	p = tapeOf(4)
	p.exit(0)
	assert.Empty(t, of(p.events).Strays(open, launchers), "the host has ended")
}
