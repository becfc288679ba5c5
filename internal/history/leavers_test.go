package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestUnnoticed: a broken server is unnoticed as long as it lives, the host does, and nothing newer has taken its place.
func TestUnnoticed(t *testing.T) {
	t.Parallel()
	broken := record.Fault{On: record.OnOrder, Do: "hang", Breaks: true}
	for name, c := range map[string]struct {
		course func(p *tape)
		id     string
	}{
		"nothing is broken":       {func(p *tape) { p.born("a#1", "a", "s", 1) }, ""},
		"broken":                  {func(p *tape) { p.born("a#1", "a", "s", 1); p.fault("a#1", broken) }, "a#1"},
		"broken and dead":         {func(p *tape) { p.born("a#1", "a", "s", 1); p.fault("a#1", broken); p.is(record.Died, "a#1") }, ""},
		"a newer one works":       {func(p *tape) { p.born("a#1", "a", "s", 1); p.fault("a#1", broken); p.born("a#2", "a", "s", 2) }, ""},
		"another label's is new":  {func(p *tape) { p.born("a#1", "a", "s", 1); p.fault("a#1", broken); p.born("b#1", "b", "s", 2) }, "a#1"},
		"of an earlier life":      {func(p *tape) { p.born("a#1", "a", "s", 1); p.fault("a#1", broken); p.exit(0); p.host(42) }, ""},
		"of the life that is now": {func(p *tape) { p.exit(0); p.host(42); p.born("a#1", "a", "s", 1); p.fault("a#1", broken) }, "a#1"},
	} {
		p := &tape{}
		p.host(41)
		c.course(p)
		s := of(p.events).Unnoticed()
		assert.Equal(t, c.id != "", s != nil, name)
		if s != nil {
			assert.Equal(t, c.id, s.ID, name)
		}
	}
}

// TestBelow: a process is below its parent and all above that; parents that go round in a circle have no end.
func TestBelow(t *testing.T) {
	t.Parallel()
	rows := RowsOf(&record.Census{Processes: []record.Process{
		row(41, 9, "S"), row(42, 41, "S"), row(43, 42, "S"), row(44, 43, "S"), row(50, 9, "S"), row(61, 62, "S"), row(62, 61, "S"),
	}})
	for _, c := range []struct {
		pid, above int
		below      bool
	}{{42, 41, true}, {44, 41, true}, {44, 9, true}, {41, 41, false}, {50, 41, false}, {61, 41, false}, {61, 62, true}} {
		assert.Equal(t, c.below, rows.Below(rows[record.Identity{PID: c.pid}], c.above), "%d below %d", c.pid, c.above)
	}
	assert.False(t, rows.Below(nil, 41))
}

// TestLeaverByItsGroups: what an earlier life has left is told by a group that is none of the later life's own.
func TestLeaverByItsGroups(t *testing.T) {
	t.Parallel()
	in := func(pid, ppid, pgid int) record.Process { // in the session that all share
		p := inGroup(row(pid, ppid, "S"), pgid)
		p.SID = 8
		return p
	}
	host := func(p *tape, pid, pgid, sid int) {
		p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{
			Identity: record.Identity{PID: pid, Start: uint64(pid)}, PPID: 9, PGID: pgid, SID: sid,
		}})
	}
	leaver := func(h *History, p record.Process, life int, others ...record.Process) int {
		if by := h.Leaver(p, RowsOf(&record.Census{Processes: append(others, p)}), life); by != nil {
			return by.N
		}
		return 0
	}
	p := &tape{}
	host(p, 41, 41, 8)
	p.exit(0)
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{
		in(60, 9, 60), in(61, 9, 51), in(62, 9, 50), in(63, 9, 9),
	}})
	h := of(p.events)
	assert.Equal(t, 1, leaver(h, in(60, 9, 60), 2), "the next life has not begun yet")
	assert.Equal(t, 1, leaver(h, in(80, 9, 60), 2), "nor for what is in its group")
	host(p, 51, 50, 8)
	p.child("a#1", "s", 103, 51)
	h = of(p.events)
	for group, name := range map[int]string{
		51: "the later host's pid", 50: "the later host's group", 9: "the keeper", 8: "the session of all",
	} {
		assert.Equal(t, 0, leaver(h, in(80, 9, group), 2), name)
	}
	assert.Equal(t, 1, leaver(h, in(80, 9, 60), 2))
	assert.Equal(t, 1, leaver(h, in(80, 80, 60), 2), "it is its own parent")
	assert.Equal(t, 0, leaver(h, in(103, 51, 60), 2), "a server is of its life, whatever its group is")
	assert.Equal(t, 1, h.Leaver(in(60, 9, 60), nil, 2).N, "without a look at others")
	p.exit(0)
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{in(60, 9, 60), in(64, 9, 60)}})
	host(p, 55, 55, 8)
	h = of(p.events)
	assert.Equal(t, 1, leaver(h, in(80, 9, 60), 3), "a group is the life's that left it first")
	p = &tape{}
	host(p, 41, 41, 8)
	p.exit(0)
	p.census(record.Census{Role: record.CensusHandover, Processes: []record.Process{in(60, 9, 60)}})
	host(p, 51, 50, 0)
	assert.Equal(t, 0, leaver(of(p.events), in(80, 9, 60), 2), "it is not known which session the lives share")
}
