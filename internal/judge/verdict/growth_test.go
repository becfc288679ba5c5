package verdict

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

const mib = 1 << 20

// cycle is the end of a repetition, with what the host holds.
func (p *play) cycle(n int, fds int, rss int64, quiet bool) {
	p.wait(100 * ms)
	c := p.census()
	c.Role, c.Cycle = record.CensusCycle, &record.Cycle{Series: 1, N: n, Quiet: quiet}
	c.Host = &record.Process{Identity: record.Identity{PID: hostPID, Start: 2000}, PPID: keeperPID, State: "S", Comm: "host", FDs: fds, RSS: rss}
	p.add(record.Event{Kind: record.CensusTaken, Census: c})
}

// grows plays a cycle for each number of descriptors.
func grows(fds ...int) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.open("s1", "flaky")
		for i, n := range fds {
			p.cycle(i+1, n, 10*mib, true)
		}
		return p.done()
	}
}

// swells plays a cycle for each size of the host, in MiB.
func swells(sizes ...int64) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.run.Header.Limits.GrowthPerCycle = mib
		p.open("s1", "flaky")
		for i, n := range sizes {
			p.cycle(i+1, 12, n*mib, true)
		}
		return p.done()
	}
}

// crowds plays a soak with so many workers of the host at the end of each repetition.
func crowds(workers ...int) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.run.Header.Soak = record.Duration(3600e9)
		for i, n := range workers {
			name := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { p.bye(name) })
			p.workers(n)
			p.cycle(i+1, 12, 10*mib, true)
		}
		p.workers(0) // the host ends them with itself
		return p.done()
	}
}

// workers has the host have so many of them.
func (p *play) workers(n int) {
	maps.DeleteFunc(p.procs, func(_ record.Identity, row record.Process) bool { return row.Comm == "worker" })
	for w := range n {
		id := record.Identity{PID: 7000 + w, Start: 2100 + uint64(w)}
		p.procs[id] = record.Process{Identity: id, PPID: hostPID, State: "S", Comm: "worker", RSS: mib, FDs: 3}
	}
}

// fattens has a server grow over the cycles; each of them is its own where it
// is replaced.
func fattens(replaced bool) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.run.Header.Limits.GrowthPerCycle = mib
		name := p.open("s1", "flaky")
		for n := range int64(10) {
			if replaced {
				p.bye(name)
				name = p.open("s1", "flaky")
			}
			row := p.procs[p.ids[name]]
			row.RSS = (3 + 2*n) * mib
			p.procs[p.ids[name]] = row
			p.cycle(int(n)+1, 12, 10*mib, true)
		}
		return p.done()
	}
}

var growthCases = []caseOf{
	{
		kind: "fd-leak",
		show: grows(10, 12, 13, 14, 16, 17),
		near: grows(10, 12, 13, 14, 14, 14), // it fills a pool
	},
	{
		kind: "host-growth",
		show: swells(10, 30, 32, 34, 36, 38, 40, 42, 44),
		near: swells(10, 30, 31, 32, 33, 33, 53, 54, 55), // a step of the heap, and the limit
	},
	{
		kind: "process-growth",
		show: crowds(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6),
		near: crowds(0, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6), // a pool that fills
	},
	{kind: "server-growth", show: fattens(false), near: fattens(true)},
}

func TestWhatIsHeldForAMomentIsNoLeak(t *testing.T) {
	t.Parallel()
	for name, fds := range map[string][]int{
		"one more at the end":  {10, 12, 12, 12, 12, 12, 14},
		"now and then":         {10, 14, 12, 16, 12, 18, 12},
		"more and less":        {10, 12, 13, 14, 15, 16, 12},
		"up in the first":      {30, 12, 12, 12, 12},
		"twice, then no more":  {10, 12, 13, 14, 14, 14, 14, 14},
		"closed after the end": {10, 20, 19, 18, 17, 16},
	} {
		v := Judge(grows(fds...)(newPlay()))
		assert.Empty(t, kindsIn(v), name)
		assert.Equal(t, LawKept, resultOf(v, "L5").Status, name)
	}
}

func TestTheCheckpointAfterTheCyclesIsTheLastOne(t *testing.T) {
	t.Parallel()
	for fds, want := range map[int][]string{12: {}, 18: {"fd-leak"}} {
		p := newPlay()
		p.open("s1", "flaky")
		for n := 1; n <= 6; n++ {
			p.cycle(n, 10+n, 10*mib, true)
		}
		cp := record.Checkpoint{Name: "after", Wants: []record.Want{want1}}
		p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
		p.wait(150 * ms)
		c := p.census()
		c.Role, c.Checkpoint, c.Host = record.CensusSettled, "after", &record.Process{FDs: fds, State: "S"}
		p.add(record.Event{Kind: record.CensusTaken, Census: c})
		cp.Quiet = true
		p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
		assert.Equal(t, want, kindsIn(Judge(p.done())), "%d descriptors in the end", fds)
	}
}

var want1 = record.Want{Label: "flaky", Session: "s1", Live: 1}

// Growth is judged from what can be compared, or not at all.
func TestGrowthThatCantBeJudged(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run    func(p *play)
		reason string
	}{
		"no cycles": {func(*play) {}, "repeats nothing"},
		"too few": {func(p *play) {
			for n := 1; n <= 4; n++ {
				p.cycle(n, 10*n, 10*mib, true)
			}
		}, "4 repetitions of the scenario; 5 are needed"},
		"restless": {func(p *play) {
			for n := 1; n <= 9; n++ {
				p.cycle(n, 10*n, 10*mib, n%3 == 0)
			}
		}, "at the end of 6 of 9 cycles"},
		"unseen": {func(p *play) {
			for n := 1; n <= 9; n++ {
				p.cycle(n, -1, 10*mib, true)
			}
		}, "can't be counted on this system"},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		c.run(p)
		v := Judge(p.done())
		assert.Equal(t, LawNotJudged, resultOf(v, "L5").Status, name)
		assert.Contains(t, resultOf(v, "L5").Reason, c.reason, name)
		assert.Empty(t, kindsIn(v), name)
	}
	v := Judge(swells(10, 30, 60, 90, 120, 150, 180, 210)(newPlay()))
	assert.Contains(t, resultOf(v, "L6").Reason, "8 repetitions of the scenario; 9 are needed")
}

func TestCyclesWithMoreToLookAfterAreNotCompared(t *testing.T) {
	t.Parallel()
	p := newPlay()
	for n := 1; n <= 9; n++ {
		p.open("s"+string(rune('0'+n)), "flaky")
		p.cycle(n, 10+3*n, 10*mib, true)
	}
	v := Judge(p.done())
	assert.Empty(t, kindsIn(v))
	assert.Contains(t, resultOf(v, "L5").Reason, "in a row can be compared")
}

func TestTheScenarioSaysHowMuchGrowthCounts(t *testing.T) {
	t.Parallel()
	run := grows(10, 12, 13, 14, 16, 17)(newPlay())
	run.Header.Limits.Severity = map[string]record.Severity{"L5": record.SeverityError}
	assert.Equal(t, Leak, Judge(run).Outcome)
	run.Header.Limits.Severity = map[string]record.Severity{"L5": record.SeverityOff}
	v := Judge(run)
	assert.Empty(t, v.Findings)
	assert.Equal(t, LawNotJudged, resultOf(v, "L5").Status)
}

// A file may claim any number of cycles, and any number for a cycle.
func TestManyCycles(t *testing.T) {
	t.Parallel()
	var fds []int
	for n := range 20_000 {
		fds = append(fds, 10+n)
	}
	run := grows(fds...)(newPlay())
	run.Header.Limits.GrowthPerCycle = mib
	assert.Equal(t, []string{"fd-leak"}, kindsIn(Judge(run)))
	for i, e := range run.Events {
		if e.Census != nil && e.Census.Cycle != nil {
			run.Events[i].Census.Cycle.Series = 1<<62 - i
			run.Events[i].Census.Cycle.N = -1 << 62
		}
	}
	assert.Empty(t, kindsIn(Judge(run)))
}

func (p *play) signalled(server, name, stdin string) {
	p.add(record.Event{Kind: record.SawSignal, Server: server, Signal: name, Text: stdin})
}

// closes opens a session and closes it; course is what becomes of its server.
func closes(course func(p *play, server string)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.run.Header.Limits.Grace = record.Duration(100 * ms)
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() { course(p, a) })
		p.quiet("after", want("flaky", "s1", 0))
		return p.done()
	}
}

var gracefulCases = []caseOf{
	{
		kind: "signal-first",
		show: closes(func(p *play, a string) {
			p.signalled(a, "SIGTERM", "open")
			p.add(record.Event{Kind: record.Bye, Server: a, Text: "SIGTERM"})
			p.dead(a)
		}),
		near: closes(func(p *play, a string) { // a busy machine: it saw the signal first, and stdin was closed by then
			p.wait(200 * ms)
			p.signalled(a, "SIGTERM", "closed")
			p.add(record.Event{Kind: record.Bye, Server: a, Text: "SIGTERM"})
			p.dead(a)
		}),
	},
	{
		kind: "killed-unasked",
		show: closes(func(p *play, a string) { p.wait(20 * ms); p.dead(a) }),
		near: closes(func(p *play, a string) { p.wait(120 * ms); p.dead(a) }), // it may have been told, and not have seen it
	},
	{
		kind: "cleanup-cut-short",
		show: closes(func(p *play, a string) { p.eof(a); p.wait(50 * ms); p.dead(a) }),
		near: closes(func(p *play, a string) { p.eof(a); p.wait(110 * ms); p.dead(a) }),
	},
}

func TestWhoIsNotTreatedBadly(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]func(p *play) *record.Run{
		"one that ignores the end of stdin": closes(func(p *play, a string) { p.eof(a); p.fault(a, "eof", "ignore", false); p.dead(a) }),
		"one that was broken before":        closes(func(p *play, a string) { p.fault(a, "order", "hang", true); p.dead(a) }),
		"one whose death is written down after the end of a close that took its time": func(p *play) *record.Run {
			p.run.Header.Limits.Grace = record.Duration(100 * ms)
			a := p.open("s1", "flaky")
			p.close("s1", "flaky", func() { p.eof(a); p.wait(3 * s) })
			p.dead(a)
			p.quiet("after", want("flaky", "s1", 0))
			return p.done()
		},
		"that of a job which was ended with time": func(p *play) *record.Run {
			p.run.Header.Limits.Grace = record.Duration(100 * ms)
			p.session("s1", "flaky", record.SessionOpening, "tick", false)
			a := p.launch("flaky", "s1")
			p.greet(a)
			p.ask(a)
			p.answer(a)
			p.eof(a)
			p.wait(3 * s)
			p.session("s1", "flaky", record.SessionEnded, "tick", false)
			p.dead(a)
			p.quiet("after", want("flaky", "s1", 0))
			return p.done()
		},
		"the servers of a host that was killed": func(p *play) *record.Run {
			p.run.Header.Limits.Grace = record.Duration(100 * ms)
			a := p.open("s1", "flaky")
			p.stop("kill", func() { p.dead(a) })
			p.quiet("host gone")
			return p.done()
		},
	} {
		v := Judge(run(newPlay()))
		assert.Empty(t, kindsIn(v), "%s\n%s", name, account(v))
	}
	run := closes(func(p *play, a string) { p.term(a); p.dead(a) })(newPlay())
	run.Header.Limits.Grace = 0
	r := resultOf(Judge(run), "L9")
	require.Equal(t, LawNotJudged, r.Status)
	assert.Contains(t, r.Reason, "it is unclear whether stdin EOF or the signal came first")
}

func TestALiveServerThatIsKilledIsL3sMatter(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Limits.Grace = record.Duration(100 * ms)
	a := p.open("s1", "flaky")
	p.open("s2", "flaky")
	p.close("s2", "flaky", func() { p.signalled(a, "SIGTERM", "open"); p.dead(a); p.bye("flaky#2") })
	assert.Equal(t, []string{"terminated"}, kindsIn(Judge(p.done())))
}
