package facts

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// did is a step from one time to another; to may be never.
func did(from, to int64, st record.Step) []record.Event {
	events := []record.Event{at(from, record.Event{Kind: record.StepBegun, Step: &st})}
	if to != never {
		ended := st
		events = append(events, at(to, record.Event{Kind: record.StepEnded, Step: &ended}))
	}
	return events
}

// TestRequestedAround: a launch within a second of a request may be for its sake; to wait, or to look, asks for nothing.
func TestRequestedAround(t *testing.T) {
	t.Parallel()
	skipped := at(5*sec, record.Event{Kind: record.StepSkipped, Step: &record.Step{N: 1, Op: record.OpCall}})
	for name, c := range map[string]struct {
		events []record.Event
		asked  bool
	}{
		"nothing":          {nil, false},
		"in a call":        {did(4*sec, 6*sec, record.Step{N: 1, Op: record.OpCall}), true},
		"without an end":   {did(4*sec, never, record.Step{N: 1, Op: record.OpCall}), true},
		"shortly after":    {did(sec, 4*sec, record.Step{N: 1, Op: record.OpCall}), true},
		"long after":       {did(sec, 4*sec-1, record.Step{N: 1, Op: record.OpCall}), false},
		"before":           {did(6*sec, 7*sec, record.Step{N: 1, Op: record.OpCall}), false},
		"while it waits":   {did(4*sec, 6*sec, record.Step{N: 1, Op: record.OpAwait}), false},
		"at a checkpoint":  {did(4*sec, 6*sec, record.Step{N: 1, Op: record.OpCheckpoint}), false},
		"skipped":          {[]record.Event{skipped}, false},
		"one of many asks": {append(did(3*sec, 4*sec, record.Step{N: 1, Op: record.OpAwait}), did(4*sec, 6*sec, record.Step{N: 2, Op: record.OpOpen})...), true},
	} {
		assert.Equal(t, c.asked, Of(runOf(c.events...)).RequestedAround(5*sec), name)
	}
}

// TestWorkingBeside: only a server of the same session that lives, works and can still be asked stands beside another.
func TestWorkingBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(o *history.Server)
		beside bool
	}{
		"it works":         {func(*history.Server) {}, true},
		"not yet born":     {func(o *history.Server) { o.Born = 5 * sec }, false},
		"dead":             {func(o *history.Server) { o.Died = 5 * sec }, false},
		"died later":       {func(o *history.Server) { o.Died = 5*sec + 1 }, true},
		"its stdin ended":  {func(o *history.Server) { o.EOF = 5 * sec }, false},
		"it ends later":    {func(o *history.Server) { o.EOF = 5*sec + 1 }, true},
		"lost":             {func(o *history.Server) { o.Lost = 9 * sec }, false},
		"broken":           {func(o *history.Server) { o.Broken = 5 * sec }, false},
		"broken later":     {func(o *history.Server) { o.Broken = 5*sec + 1 }, true},
		"never answered":   {func(o *history.Server) { o.Established = never }, false},
		"another session":  {func(o *history.Server) { o.Session = "s2" }, false},
		"another server's": {func(o *history.Server) { o.Label = "steady" }, false},
	} {
		f := Of(runOf(born(ms, "flaky#1", "s1", 31, host), born(2*ms, "flaky#2", "s1", 32, host)))
		one, two := f.Server("flaky#1"), f.Server("flaky#2")
		one.Established, two.Established = sec, sec
		c.change(two)
		want := two
		if !c.beside {
			want = nil
		}
		assert.Equal(t, want, f.WorkingBeside(one, 5*sec), name)
	}
}

// TestCallsReceived counts the calls of a session wherever they went, and knows nothing where a server of it was lost from sight.
func TestCallsReceived(t *testing.T) {
	t.Parallel()
	f := Of(runOf(born(0, "flaky#1", "s1", 31, host), born(0, "flaky#2", "", 32, host), born(0, "flaky#3", "s3", 33, host), born(0, "other#1", "s1", 34, host)))
	calls := []history.Call{{Session: "s1"}, {Session: "s1"}}
	for _, id := range []string{"flaky#1", "flaky#2", "other#1"} {
		f.Server(id).Calls = calls
	}
	f.Server("flaky#3").Lost = sec // it has nothing to do with s1
	f.Server("other#1").Lost = sec
	n, known := f.CallsReceived(SessionKey{"flaky", "s1"})
	assert.Equal(t, 4, n)
	assert.True(t, known)
	f.Server("flaky#1").Calls, f.Server("flaky#1").Lost = nil, sec
	_, known = f.CallsReceived(SessionKey{"flaky", "s1"})
	assert.False(t, known, "what was lost from sight may have received some")
	f.Server("flaky#1").Calls, f.Server("flaky#1").Lost = calls, never
	f.Server("flaky#2").Lost = sec
	n, known = f.CallsReceived(SessionKey{"flaky", "s1"})
	assert.Zero(t, n)
	assert.False(t, known)
}

// TestFaultBefore names the last thing that a server did wrong by a moment, and not what it merely did not do.
func TestFaultBefore(t *testing.T) {
	t.Parallel()
	f := Of(runOf(born(0, "flaky#1", "s1", 31, host), born(0, "flaky#2", "s2", 32, host)))
	assert.Equal(t, "No server had done anything wrong by then.", f.FaultBefore(9*sec))
	mark := func(t int64, do record.Action, passive bool) history.FaultMark {
		return history.FaultMark{T: t, Fault: record.Fault{On: "order", Do: do, Passive: passive}}
	}
	f.Server("flaky#1").Faults = []history.FaultMark{mark(2*sec, "hang", false), mark(5*sec, "exit", false), mark(6*sec, "ignore", true), mark(8*sec, "garbage", false)}
	f.Server("flaky#2").Faults = []history.FaultMark{mark(3*sec, "close-stdout", false)}
	assert.Equal(t, "The last fault before that was exit of flaky#1, 2 s earlier.", f.FaultBefore(7*sec))
	assert.Equal(t, "The last fault before that was close-stdout of flaky#2, 1 s earlier.", f.FaultBefore(4*sec))
	assert.Equal(t, "The last fault before that was hang of flaky#1, 0 s earlier.", f.FaultBefore(2*sec))
}

// TestExcuses: a file that tells how long the run waited for processors excuses just that, and being woken up late, twice.
func TestExcuses(t *testing.T) {
	t.Parallel()
	look := func(at, waited, late int64) record.Event {
		w := record.Duration(waited)
		return census(at, record.Census{Role: record.CensusSample, Load: &record.Load{Waited: &w, Late: record.Duration(late)}})
	}
	f := Of(runOf(look(sec, 0, 9*sec), look(2*sec, 100*ms, 50*ms), census(3*sec, record.Census{Role: record.CensusSample}), look(4*sec, 300*ms, 20*ms),
		look(6*sec, 1100*ms, 10*ms), look(8*sec, 5*sec, 9*sec)))
	assert.Equal(t, 1100*ms, f.Excused(3*sec, 5*sec), "from the look at 2 s to that at 6 s: one second, and 50 ms twice")
	by, known := f.Pushed(3*sec, 5*sec)
	assert.Equal(t, 1100*ms, by)
	assert.True(t, known)
	assert.True(t, f.TellsLoad())
	assert.False(t, Of(runOf(census(sec, record.Census{Role: record.CensusSample}))).TellsLoad())
	waited, known := f.Waited(3*sec, 5*sec)
	assert.True(t, known)
	assert.Equal(t, record.Duration(sec), waited)
	assert.True(t, f.MayBeTheMachines(3*sec, 5*sec, 900*time.Millisecond))
	assert.False(t, f.MayBeTheMachines(3*sec, 5*sec, 899*time.Millisecond))
	assert.True(t, f.HadProcessors(3*sec, 5*sec))
	assert.False(t, f.HadProcessors(4600*ms, 5500*ms), "it may have waited for all of it")
	for name, c := range map[string][2]int64{"after the last look": {7 * sec, 9 * sec}} {
		assert.Zero(t, f.Excused(c[0], c[1]), name)
		_, known := f.Pushed(c[0], c[1])
		assert.False(t, known, name)
		_, known = f.Waited(c[0], c[1])
		assert.False(t, known, name)
		assert.False(t, f.HadProcessors(c[0], c[1]), name)
	}
	_, known = Of(runOf()).Waited(0, sec)
	assert.False(t, known, "nobody looked")
	assert.Zero(t, Of(runOf()).Excused(0, sec))
}

// TestARunThatStarvesItselfExcusesNothing: 40 % of four processors for ten seconds are 16 s.
func TestARunThatStarvesItselfExcusesNothing(t *testing.T) {
	t.Parallel()
	for own, slow := range map[int64]float64{15 * sec: 5.0 / 2, 16 * sec: 5.0 / 2, 17 * sec: 1} {
		look := func(t int64, l record.Load) record.Event {
			return census(t, record.Census{Role: record.CensusSample, Load: &l})
		}
		none := record.Duration(0)
		before := record.Load{Ran: record.Duration(7 * sec), Delayed: record.Duration(3 * sec), Own: record.Duration(30 * sec), Waited: &none}
		after := record.Load{Ran: before.Ran + record.Duration(4*sec), Delayed: before.Delayed + record.Duration(6*sec), Own: before.Own + record.Duration(own)}
		f := Of(runOf(look(40*sec, before), look(50*sec, after)))
		assert.InDelta(t, slow, f.Slowdown(41*sec, 49*sec), 0.001)
		share, known := f.StarvedBetween(41*sec, 49*sec)
		assert.True(t, known)
		assert.InDelta(t, 0.6, share, 0.001)
		assert.Equal(t, int64(slow*float64(2*sec)), f.Scaled(2*time.Second, 45*sec))
		assert.Equal(t, 5*sec, f.Scaled(5*time.Second, 46*sec), "it reaches beyond what is known")
		assert.Equal(t, own < 17*sec, f.MayBeTheMachines(41*sec, 46*sec, 2*time.Second))
	}
}

// TestBlur is half a look's distance, and no less than 10 nor more than 250 ms.
func TestBlur(t *testing.T) {
	t.Parallel()
	for quiet, blur := range map[int64]int64{0: 10 * ms, 30 * ms: 15 * ms, 100 * ms: 50 * ms, 900 * ms: 250 * ms} {
		r := runOf()
		r.Header.Limits.Quiet = record.Duration(quiet)
		assert.Equal(t, blur, Of(r).Blur(), quiet)
	}
}

// TestWatchedUntil: survivors are watched until the second look, the end of the checkpoint, or that of the file.
func TestWatchedUntil(t *testing.T) {
	t.Parallel()
	all := checkpointAt(sec, false, nil)
	confirm := census(2500*ms, record.Census{Role: record.CensusConfirm, Checkpoint: "after"})
	later := change(9*sec, record.SessionOpening)
	assert.Equal(t, 2500*ms, Of(runOf(all[0], all[1], confirm, all[2], later)).Checkpoints[0].WatchedUntil)
	assert.Equal(t, 3*sec, Of(runOf(all[0], all[1], all[2], later)).Checkpoints[0].WatchedUntil)
	assert.Equal(t, 9*sec, Of(runOf(all[0], all[1], later)).Checkpoints[0].WatchedUntil)
}

// TestStraysComeInOrder: what is below the host and no server is told by pid; a checkpoint that was quiet, or after the host, has none.
func TestStraysComeInOrder(t *testing.T) {
	t.Parallel()
	launcher := func(pid int) record.Process {
		p := process(pid, host, record.StateSleeping)
		p.Args = []string{"sh", "-c", "leakbench fakeserver --run " + run + " --label flaky"}
		return p
	}
	look := func(quiet, gone bool) []history.Stray {
		rows := []record.Process{launcher(44), launcher(42), launcher(43)}
		events := []record.Event{census(0, record.Census{Role: record.CensusStarted}), census(0, record.Census{Role: record.CensusSample, Processes: rows})}
		for k, id := range []string{"flaky#1", "flaky#2", "flaky#3"} {
			events = append(events, born(int64(k)*ms, id, "s1", 51+k, 42+k), at(int64(k)*ms, record.Event{Kind: record.Died, Server: id}))
		}
		all := checkpointAt(sec, gone, []record.Want{{Label: "flaky", Session: "s1"}}, rows...)
		begun, ended := *all[0].Checkpoint, *all[2].Checkpoint
		ended.Quiet = quiet
		all[0].Checkpoint, all[2].Checkpoint = &begun, &ended
		return Of(runOf(append(events, all...)...)).Checkpoints[0].Strays
	}
	var pids []int
	for _, s := range look(false, false) {
		pids = append(pids, s.PID)
	}
	assert.Equal(t, []int{42, 43, 44}, pids)
	assert.Empty(t, look(true, false))
	assert.Empty(t, look(false, true))
}

// TestALoadNeedsTime: between two looks that are next to each other nobody shows what he uses.
func TestALoadNeedsTime(t *testing.T) {
	t.Parallel()
	rows := func(cpu int64) history.Rows {
		p := process(31, 10, record.StateSleeping)
		p.CPU = record.Duration(cpu)
		return history.RowsOf(&record.Census{Processes: []record.Process{p}})
	}
	for between, load := range map[int64]float64{100*ms - 1: 0, 100 * ms: 0.5} {
		cp := &Checkpoint{Checkpoint: &history.Checkpoint{SettledAt: 5 * sec, ConfirmAt: 5*sec + between, SettledRows: rows(7 * sec), ConfirmRows: rows(7*sec + 50*ms)}}
		assert.InDelta(t, load, cp.Load(identity(31)), 0.001, between)
	}
}

// cycle is a look at the end of one.
func cycle(at int64, series, n int, rss int64, rows ...record.Process) record.Event {
	return census(at, record.Census{
		Role: record.CensusCycle, Cycle: &record.Cycle{Series: series, N: n, Quiet: true}, Processes: rows,
		Host: &record.Process{Identity: record.Identity{PID: host, Start: 2000}, RSS: rss, FDs: 7},
	})
}

// TestEachRepeatIsASeries of its own, in the order of the scenario, and each life of the host has its own.
func TestEachRepeatIsASeries(t *testing.T) {
	t.Parallel()
	again := record.Process{Identity: record.Identity{PID: 21, Start: 9000}, PPID: 10, SID: 21, Comm: "host"}
	f := Of(runOf(cycle(sec, 2, 1, 21), cycle(2*sec, 1, 1, 11), cycle(3*sec, 2, 2, 22), cycle(4*sec, 1, 2, 12),
		at(5*sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}}), at(6*sec, record.Event{Kind: record.HostStarted, Process: &again}),
		cycle(7*sec, 1, 3, 13)))
	var sizes [][]int64
	for _, group := range f.Series(0) {
		sizes = append(sizes, CurveOf(group, func(c *Cycle) int64 { return c.RSS }).Values)
	}
	assert.Equal(t, [][]int64{{11, 12}, {13}, {21, 22}}, sizes)
}

// TestACheckpointEndsASeries: the first one after the last cycle, if it was quiet, the host lived on, and nothing more was below it.
func TestACheckpointEndsASeries(t *testing.T) {
	t.Parallel()
	itself := &record.Process{Identity: record.Identity{PID: host, Start: 2000}, RSS: 99, FDs: 7}
	for name, c := range map[string]struct {
		change func(cp *record.Checkpoint, look *record.Census)
		values []int64
	}{
		"quiet":          {func(*record.Checkpoint, *record.Census) {}, []int64{11, 12, 99}},
		"restless":       {func(cp *record.Checkpoint, _ *record.Census) { cp.Quiet = false }, []int64{11, 12}},
		"after the host": {func(cp *record.Checkpoint, _ *record.Census) { cp.HostGone = true }, []int64{11, 12}},
		"host not seen":  {func(_ *record.Checkpoint, look *record.Census) { look.Host = nil }, []int64{11, 12}},
		"one more below it": {func(_ *record.Checkpoint, look *record.Census) {
			look.Processes = []record.Process{process(31, host, "S")}
		}, []int64{11, 12}},
		"a zombie below it": {func(_ *record.Checkpoint, look *record.Census) {
			look.Processes = []record.Process{process(31, host, "Z")}
		}, []int64{11, 12, 99}},
	} {
		cp := record.Checkpoint{Name: "after", Quiet: true}
		look := record.Census{Role: record.CensusSettled, Checkpoint: "after", Host: itself}
		c.change(&cp, &look)
		begun := cp
		begun.Quiet = false
		f := Of(runOf(cycle(sec, 1, 1, 11), cycle(2*sec, 1, 2, 12), at(3*sec, record.Event{Kind: record.CheckpointBegun, Checkpoint: &begun}),
			census(4*sec, look), at(5*sec, record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})))
		series := f.Series(0)
		require.Len(t, series, 1, name)
		curve := CurveOf(series[0], func(c *Cycle) int64 { return c.RSS })
		assert.Equal(t, c.values, curve.Values, name)
		if last := series[0][len(series[0])-1]; len(c.values) == 3 {
			assert.Equal(t, record.Cycle{Series: 1, N: 3, Quiet: true}, last.Cycle, name)
			assert.Equal(t, "checkpoint after", last.Name, name)
		}
	}
	cp := record.Checkpoint{Name: "before", Quiet: true}
	early := census(2*sec, record.Census{Role: record.CensusSettled, Checkpoint: "before", Host: itself})
	f := Of(runOf(at(sec, record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp}), early, at(3*sec, record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp}),
		cycle(4*sec, 1, 1, 11), cycle(5*sec, 1, 2, 12)))
	assert.Len(t, f.Series(0)[0], 2, "it was before the last cycle")
	cut := checkpointAt(3*sec, false, nil)
	assert.Len(t, Of(runOf(cycle(sec, 1, 1, 11), cut[0])).Series(0)[0], 1, "nobody looked at it")
}

// TestAHostIsMoreThanItsFirstProcess: what its workers hold is its own, and unknown where one can't be seen.
func TestAHostIsMoreThanItsFirstProcess(t *testing.T) {
	t.Parallel()
	first := record.Process{Identity: record.Identity{PID: host}, RSS: 100, FDs: 7}
	for _, c := range []struct{ first, worker, fds int }{{7, 3, 10}, {7, 0, 0}, {0, 3, 0}} {
		first.FDs = c.first
		of := &Cycle{Host: &first}
		of.weigh([]record.Process{first, {Identity: record.Identity{PID: 21}, RSS: 40, FDs: c.worker}, {Identity: record.Identity{PID: 22}, RSS: 2, FDs: 0}}[:2])
		assert.Equal(t, int64(140), of.RSS)
		assert.Equal(t, int64(c.fds), of.FDs, c)
	}
	nobody := &Cycle{}
	nobody.weigh([]record.Process{first})
	assert.Zero(t, nobody.RSS)
}

// TestACurveTellsItsEnds: of more than 16 values, the first and the last eight.
func TestACurveTellsItsEnds(t *testing.T) {
	t.Parallel()
	curve := Curve{}
	for v := range int64(16) {
		curve.Values = append(curve.Values, v)
	}
	number := func(v int64) string { return strconv.FormatInt(v, 10) }
	assert.Equal(t, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15", curve.List(number))
	curve.Values = append(curve.Values, 16, 17)
	assert.Equal(t, "0, 1, 2, 3, 4, 5, 6, 7, …, 10, 11, 12, 13, 14, 15, 16, 17", curve.List(number))
}

// TestRenewals: a host may end the server of an open session for a new one as often as it says that it does.
func TestRenewals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(f *Facts, first, second *history.Server)
		scheduled bool
	}{
		"renewed":                {func(*Facts, *history.Server, *history.Server) {}, true},
		"the host says nothing":  {func(f *Facts, _, _ *history.Server) { f.Header.Host.Profile.Renewal = 0 }, false},
		"the next is late":       {func(_ *Facts, _, second *history.Server) { second.Born = 11*sec + 1 }, false},
		"the next is just there": {func(_ *Facts, _, second *history.Server) { second.Born = 11 * sec }, true},
		"the next never worked":  {func(_ *Facts, _, second *history.Server) { second.Established = never }, false},
		"worked too late":        {func(_ *Facts, _, second *history.Server) { second.Established = 11*sec + 1 }, false},
		"the next had gone":      {func(_ *Facts, _, second *history.Server) { second.Died = 10 * sec }, false},
		"the next went later":    {func(_ *Facts, _, second *history.Server) { second.Died = 10*sec + 1 }, true},
		"of another session":     {func(_ *Facts, _, second *history.Server) { second.Session = "s2" }, false},
		"an older one":           {func(_ *Facts, first, second *history.Server) { second.Born = first.Born }, false},
	} {
		r := runOf(change(0, record.SessionOpening), born(ms, "flaky#1", "s1", 31, host), change(2*ms, record.SessionOpen), born(9*sec, "flaky#2", "s1", 32, host), said(20*sec, record.SawEOF, ""))
		r.Header.Host.Profile.Renewal = record.Duration(10 * sec)
		f := Of(r)
		first, second := f.Server("flaky#1"), f.Server("flaky#2")
		second.Established, first.EOF = 9*sec, 10*sec
		c.change(f, first, second)
		assert.Equal(t, c.scheduled, f.OnSchedule(first, Harm{Kind: "cut-off", T: 10 * sec}), name)
	}
}

// TestWhatFollowsIsNotAlwaysSeen: where the file, the host or the session ends within the settle time, the next server had no time.
func TestWhatFollowsIsNotAlwaysSeen(t *testing.T) {
	t.Parallel()
	stop := did(10*sec+500*ms, never, record.Step{N: 1, Op: record.OpStop})[0]
	for name, c := range map[string]struct {
		events    []record.Event
		scheduled bool
	}{
		"seen":                {[]record.Event{said(20*sec, record.SawEOF, "")}, false},
		"the file ends":       {[]record.Event{said(11*sec-1, record.SawEOF, "")}, true},
		"the file just ends":  {[]record.Event{said(11*sec, record.SawEOF, "")}, false},
		"the host is to stop": {[]record.Event{stop, said(20*sec, record.SawEOF, "")}, true},
		"the session ends":    {[]record.Event{change(11*sec, record.SessionEnding), said(20*sec, record.SawEOF, "")}, true},
		"it ends later":       {[]record.Event{change(11*sec+1, record.SessionEnding), said(20*sec, record.SawEOF, "")}, false},
		"it changed before":   {[]record.Event{change(10*sec, record.SessionOpen), said(20*sec, record.SawEOF, "")}, false},
	} {
		r := runOf(append([]record.Event{change(0, record.SessionOpening), born(ms, "flaky#1", "s1", 31, host), change(2*ms, record.SessionOpen)}, c.events...)...)
		r.Header.Host.Profile.Renewal = record.Duration(10 * sec)
		f := Of(r)
		assert.Equal(t, c.scheduled, f.OnSchedule(f.Server("flaky#1"), Harm{Kind: "cut-off", T: 10 * sec}), name)
	}
}

// TestTooManyRenewals: two more than the time since the first launch allows are the clock's, three are not.
func TestTooManyRenewals(t *testing.T) {
	t.Parallel()
	ended := func(n int, change func(f *Facts, s []*history.Server)) bool {
		events := []record.Event{}
		for k := range n + 1 {
			events = append(events, born(40*sec+int64(k)*sec, "flaky#"+strconv.Itoa(k+1), "s1", 31+k, host))
		}
		r := runOf(append(events, said(90*sec, record.SawEOF, ""))...)
		r.Header.Host.Profile.Renewal = record.Duration(10 * sec)
		f := Of(r)
		var servers []*history.Server
		for k := range n + 1 {
			s := f.Server("flaky#" + strconv.Itoa(k+1))
			s.Established, s.EOF = s.Born, s.Born+sec
			servers = append(servers, s)
		}
		servers[0].EOF, servers[n].EOF = servers[0].Born+500*ms, never
		if change != nil {
			change(f, servers)
		}
		last := servers[n-1]
		return f.OnSchedule(last, Harm{Kind: "cut-off", T: last.EOF})
	}
	assert.True(t, ended(2, nil))
	assert.False(t, ended(3, nil), "three within three seconds")
	assert.True(t, ended(3, func(_ *Facts, s []*history.Server) { s[0].Session = "s2" }), "one was of another session")
	assert.True(t, ended(3, func(_ *Facts, s []*history.Server) { s[0].EOF = never }), "one lives on")
	assert.True(t, ended(3, func(_ *Facts, s []*history.Server) { s[0].EOF = 60 * sec }), "one ended later")
	assert.True(t, ended(3, func(_ *Facts, s []*history.Server) { s[0].Born -= 8 * sec }), "they took ten seconds")
}

// TestCancelled: it is a call of the server's own session, while it was there, that the bench cancelled.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step      record.Step
		begun     int64
		cancelled bool
	}{
		"cancelled":       {record.Step{N: 1, Op: record.OpCall, Session: "s1", Cancelled: true}, 3 * sec, true},
		"at the birth":    {record.Step{N: 1, Op: record.OpCall, Session: "s1", Cancelled: true}, sec, true},
		"at the moment":   {record.Step{N: 1, Op: record.OpCall, Session: "s1", Cancelled: true}, 5 * sec, true},
		"left alone":      {record.Step{N: 1, Op: record.OpCall, Session: "s1"}, 3 * sec, false},
		"an open":         {record.Step{N: 1, Op: record.OpOpen, Session: "s1", Cancelled: true}, 3 * sec, false},
		"another session": {record.Step{N: 1, Op: record.OpCall, Session: "s2", Cancelled: true}, 3 * sec, false},
		"before it":       {record.Step{N: 1, Op: record.OpCall, Session: "s1", Cancelled: true}, sec - 1, false},
		"later":           {record.Step{N: 1, Op: record.OpCall, Session: "s1", Cancelled: true}, 5*sec + 1, false},
	} {
		events := append([]record.Event{}, did(c.begun, c.begun, c.step)...)
		birth := born(sec, "flaky#1", "s1", 31, host)
		if c.begun < sec {
			events = append(events, birth)
		} else {
			events = append([]record.Event{birth}, events...)
		}
		f := Of(runOf(events...))
		assert.Equal(t, c.cancelled, f.Cancelled(f.Server("flaky#1"), 5*sec), name)
	}
}

// TestWhenALaunchBegan: whoever was seen soonest after his start tells how the kernel's clock and the run's stand to each other.
func TestWhenALaunchBegan(t *testing.T) {
	t.Parallel()
	began := func(os string, change func(f *Facts), events ...record.Event) int64 {
		r := runOf(events...)
		r.Header.System.OS = os
		f := Of(r)
		if change != nil {
			change(f)
		}
		s := f.Servers()[len(f.Servers())-1]
		t0, known := f.LaunchBegan(s)
		assert.True(t, known)
		return t0
	}
	birth := func(t int64, id string, pid int, start uint64, ppid int) record.Event {
		e := born(t, id, "s1", pid, ppid)
		e.Birth.Start = start
		return e
	}
	assert.Equal(t, 2*sec, began("linux", nil, birth(9*sec, "flaky#1", 31, 2200, host)), "200 ticks of 10 ms after the host")
	assert.Equal(t, 200*ms, began("darwin", nil, birth(9*sec, "flaky#1", 31, 2200, host)), "200 ms after the host")
	assert.Equal(t, 3*sec, began("linux", nil, birth(2*sec, "flaky#1", 31, 2100, host), birth(9*sec, "flaky#2", 32, 2300, host)), "both waited")
	assert.Equal(t, 1*sec, began("linux", func(f *Facts) { f.Host().Started = 5 * sec },
		birth(sec, "flaky#1", 31, 2100, host), birth(9*sec, "flaky#2", 32, 2100, host)), "an older server was seen at once, the host was not")
	launcher := process(30, host, record.StateSleeping)
	launcher.Start = 2100
	look := census(2*sec, record.Census{Role: record.CensusSample, Processes: []record.Process{process(29, host, record.StateSleeping), launcher}})
	assert.Equal(t, sec, began("linux", nil, look, birth(9*sec, "flaky#1", 31, 2800, 30)), "its launcher began it")
}

// TestRefusedClose is the last close of the session by a moment, and of no other.
func TestRefusedClose(t *testing.T) {
	t.Parallel()
	no := func(n int, session string, op record.Op) record.Step {
		return record.Step{N: n, Op: op, Session: session, Error: "no"}
	}
	yes := record.Step{N: 2, Op: record.OpClose, Session: "s1", OK: true}
	for name, c := range map[string]struct {
		events  []record.Event
		refused bool
	}{
		"refused":                  {did(2*sec, 3*sec, no(1, "s1", record.OpClose)), true},
		"refused at that moment":   {did(5*sec, 6*sec, no(1, "s1", record.OpClose)), true},
		"refused later":            {did(5*sec+1, 6*sec, no(1, "s1", record.OpClose)), false},
		"of another session":       {did(2*sec, 3*sec, no(1, "s2", record.OpClose)), false},
		"a call failed":            {did(2*sec, 3*sec, no(1, "s1", record.OpCall)), false},
		"then it worked":           {append(did(sec, 2*sec, no(1, "s1", record.OpClose)), did(3*sec, 4*sec, yes)...), false},
		"then a later one did not": {append(did(sec, 2*sec, yes), did(3*sec, 4*sec, no(3, "s1", record.OpClose))...), true},
	} {
		f := Of(runOf(append([]record.Event{born(ms, "flaky#1", "s1", 31, host)}, c.events...)...))
		assert.Equal(t, c.refused, f.refusedClose(f.Server("flaky#1"), 5*sec) != nil, name)
	}
}

// TestJobWorked: a job of the session that came to its end after the server was there.
func TestJobWorked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step   record.Step
		ended  int64
		worked bool
	}{
		"worked":     {record.Step{N: 1, Op: record.OpJob, Session: "s1", OK: true}, 2 * sec, true},
		"failed":     {record.Step{N: 1, Op: record.OpJob, Session: "s1"}, 2 * sec, false},
		"a call":     {record.Step{N: 1, Op: record.OpCall, Session: "s1", OK: true}, 2 * sec, false},
		"another's":  {record.Step{N: 1, Op: record.OpJob, Session: "s2", OK: true}, 2 * sec, false},
		"before it":  {record.Step{N: 1, Op: record.OpJob, Session: "s1", OK: true}, sec - 1, false},
		"as it came": {record.Step{N: 1, Op: record.OpJob, Session: "s1", OK: true}, sec, true},
	} {
		f := Of(runOf(append(did(0, c.ended, c.step), born(2*sec, "flaky#1", "s1", 31, host))...))
		s := f.Server("flaky#1")
		s.Born = sec
		assert.Equal(t, c.worked, f.jobWorked(s), name)
	}
}
