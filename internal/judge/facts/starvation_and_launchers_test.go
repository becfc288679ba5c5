package facts

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// loads is a look that tells how long the bench ran, waited for a processor, and what the run's processes took.
func loads(t, ran, delayed, own int64) record.Event {
	return census(t, record.Census{Role: record.CensusSample, Load: &record.Load{
		Ran: record.Duration(ran), Delayed: record.Duration(delayed), Own: record.Duration(own),
	}})
}

// TestALookMayComeLate: where the first look comes after the time in question, it stands for the one that is missing.
func TestALookMayComeLate(t *testing.T) {
	t.Parallel()
	f := Of(runOf(loads(5*sec, 0, 0, 0), loads(6*sec, 200*ms, 800*ms, 0)))
	share, known := f.StarvedBetween(2*sec, 3*sec)
	assert.True(t, known)
	assert.InDelta(t, 0.8, share, 0.001)
}

// TestStarvedInPart: only the looks around a moment say how slow it was, and 30 % is starved.
func TestStarvedInPart(t *testing.T) {
	t.Parallel()
	f := Of(runOf(loads(0, 0, 0, 0), loads(10*sec, 9*sec, 0, 0), loads(20*sec, 11*sec, 8*sec, 0)))
	assert.Equal(t, 2*sec, f.Scaled(2*time.Second, 11*sec), "it reaches back to where nothing was starved")
	assert.Equal(t, 8*sec, f.Scaled(2*time.Second, 13*sec))
	for delayed, had := range map[int64]bool{3*sec - ms: true, 3 * sec: false} {
		f := Of(runOf(loads(0, 0, 0, 0), loads(20*sec, 10*sec-delayed, delayed, 0)))
		assert.Equal(t, had, f.HadProcessors(sec, 19*sec), "%d", delayed)
	}
}

// TestWhoStarvesItselfIsNotExcused, also where the file tells how long the run waited.
func TestWhoStarvesItselfIsNotExcused(t *testing.T) {
	t.Parallel()
	for own, excused := range map[int64]int64{16 * sec: 3 * sec, 17 * sec: 0} { // 40 % of four processors for ten seconds are 16 s
		look := func(t, waited, own int64) record.Event {
			w := record.Duration(waited)
			return census(t, record.Census{Role: record.CensusSample, Load: &record.Load{Waited: &w, Own: record.Duration(own)}})
		}
		f := Of(runOf(look(10*sec, 0, 0), look(20*sec, 3*sec, own)))
		assert.Equal(t, excused, f.Excused(11*sec, 19*sec))
		assert.Equal(t, excused > 0, f.MayBeTheMachines(11*sec, 19*sec, 6*time.Second))
	}
}

// TestWhatTheBenchWaitedBetweenTwoLooks counts, and not what it had waited before; a moment is nothing.
func TestWhatTheBenchWaitedBetweenTwoLooks(t *testing.T) {
	t.Parallel()
	f := Of(runOf(loads(10*sec, 0, 5*sec, 0), loads(20*sec, 100*ms, 5400*ms, 0)))
	assert.InDelta(t, 1, f.Slowdown(11*sec, 19*sec), 0.001, "0.4 s of ten")
	f = Of(runOf(loads(10*sec, 0, 3*sec, 0), loads(20*sec, sec, 7500*ms, 0)))
	assert.True(t, f.MayBeTheMachines(11*sec, 19*sec, 3500*time.Millisecond))
	assert.False(t, f.MayBeTheMachines(11*sec, 19*sec, 3*time.Second), "five seconds are more than four and a half")
	for delayed, share := range map[int64]float64{20*ms - 1: 0, 20 * ms: 0.5} {
		got, known := Of(runOf(loads(0, 0, 0, 0), loads(sec, 20*ms, delayed, 0))).StarvedBetween(0, sec)
		assert.True(t, known)
		assert.InDelta(t, share, got, 0.001)
	}
}

// TestAQuickCheckpoint: its settle time is shorter than the distance of two looks. What was wrong when it began was wrong all the time.
func TestAQuickCheckpoint(t *testing.T) {
	t.Parallel()
	cp := record.Checkpoint{Name: "after"}
	f := Of(runOf(born(sec-ms, "flaky#1", "s1", 31, host), at(sec, record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp}),
		said(sec+2*ms, record.WroteStderr, "still here"),
		census(sec+20*ms, record.Census{Role: record.CensusSettled, Checkpoint: "after", Processes: []record.Process{process(31, host, record.StateSleeping)}})))
	if extra := f.Checkpoints[0].Extra; assert.Len(t, extra, 1) {
		assert.Equal(t, "flaky#1", extra[0].ID)
	}
}

// TestBusyAtBothLooks: where others want the processors, a process counts as busy that was ready to run at both looks, not at one.
func TestBusyAtBothLooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after record.State
		spins         bool
	}{
		"at both":   {record.StateRunning, record.StateRunning, true},
		"at first":  {record.StateRunning, record.StateSleeping, false},
		"at second": {record.StateSleeping, record.StateRunning, false},
	} {
		before, after := process(31, 10, c.before), process(31, 10, c.after)
		after.CPU = record.Duration(200 * ms)
		cp := &Checkpoint{Checkpoint: &history.Checkpoint{
			SettledAt: sec, ConfirmAt: 3 * sec,
			SettledRows: history.RowsOf(&record.Census{Processes: []record.Process{before}}), ConfirmRows: history.RowsOf(&record.Census{Processes: []record.Process{after}}),
		}}
		assert.Equal(t, c.spins, cp.Spins(identity(31)), name)
	}
}

// TestWhichCyclesAreAlike: those with the commonest number of processes, and of two that are as common the one that was so first.
func TestWhichCyclesAreAlike(t *testing.T) {
	t.Parallel()
	all := []record.Process{process(31, host, record.StateSleeping), process(32, host, record.StateSleeping)}
	for _, c := range []struct{ live, kept []int }{
		{[]int{1, 1, 2}, []int{1, 2}},
		{[]int{2, 1, 1}, []int{2, 3}},
		{[]int{1, 2, 2, 1}, []int{2, 3}},
		{[]int{1, 2}, []int{1}},
	} {
		var looks []record.Event
		for i, live := range c.live {
			looks = append(looks, cycle(int64(i+1)*sec, 1, i+1, 11, all[:live]...))
		}
		unseen := cycle(9*sec, 1, 9, 11, all[:c.live[c.kept[0]-1]]...)
		unseen.Census.Host = nil
		var kept []int
		for _, alike := range Of(runOf(append(looks, unseen)...)).Series(0)[0] {
			kept = append(kept, alike.N)
		}
		assert.Equal(t, c.kept, kept, "%v: what shows no host tells nothing of it", c.live)
	}
}

// TestWhatEndsNoSeries: a checkpoint of another life, one that nobody looked at, and one whose look shows no host.
func TestWhatEndsNoSeries(t *testing.T) {
	t.Parallel()
	itself := &record.Process{Identity: record.Identity{PID: host, Start: 2000}, RSS: 99, FDs: 7}
	again := record.Process{Identity: record.Identity{PID: 21, Start: 9000}, PPID: 10, SID: 21, Comm: "host"}
	restart := []record.Event{
		at(2500*ms, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}}),
		at(2600*ms, record.Event{Kind: record.HostStarted, Process: &again}),
	}
	begun := at(3*sec, record.Event{Kind: record.CheckpointBegun, Checkpoint: &record.Checkpoint{Name: "after"}})
	look := func(host *record.Process) record.Event {
		return census(4*sec, record.Census{Role: record.CensusSettled, Checkpoint: "after", Host: host})
	}
	ended := at(5*sec, record.Event{Kind: record.CheckpointEnded, Checkpoint: &record.Checkpoint{Name: "after", Quiet: true}})
	for name, c := range map[string]struct {
		events []record.Event
		n      int
	}{
		"the host is seen": {[]record.Event{begun, look(itself), ended}, 3},
		"another life":     {append(restart, begun, look(itself), ended), 2},
		"nobody looked":    {[]record.Event{begun, ended}, 2},
		"no host is seen":  {[]record.Event{begun, look(nil), ended}, 2},
	} {
		f := Of(runOf(append([]record.Event{cycle(sec, 1, 1, 11), cycle(2*sec, 1, 2, 12)}, c.events...)...))
		assert.Len(t, f.Series(0)[0], c.n, name)
	}
}

// TestACycleWithoutOne: a look that says nothing of a cycle is none of one.
func TestACycleWithoutOne(t *testing.T) {
	t.Parallel()
	assert.Empty(t, Of(runOf(census(sec, record.Census{Role: record.CensusCycle}))).Cycles)
}

// TestTheLastLookCounts: what an earlier look after the host's end saw may have gone, what was swept as a zombie had lived, and a file
// that is cut off before a look has the look before it.
func TestTheLastLookCounts(t *testing.T) {
	t.Parallel()
	gone := at(sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: true}})
	alive := process(31, 10, record.StateSleeping)
	first, second := checkpointAt(2*sec, true, nil, alive), checkpointAt(5*sec, true, nil)
	swept := at(9*sec, record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{process(31, 10, record.StateZombie)}}})
	left := func(more ...record.Event) int {
		return Of(runOf(append([]record.Event{born(ms, "flaky#1", "s1", 31, host), gone}, more...)...)).Left()
	}
	assert.Equal(t, 1, left(first...))
	assert.Equal(t, 0, left(append(first, second...)...))
	assert.Equal(t, 1, left(append(first, swept)...))
	assert.Equal(t, 1, left(append(first, second[0])...))
}

// TestWhatIsHeld: of any process, a server or not; a pipe that is full blocks stderr as well, and a sleep that can't be interrupted is one.
func TestWhatIsHeld(t *testing.T) {
	t.Parallel()
	f := Of(runOf(born(ms, "flaky#2", "s2", 32, host)))
	evidence := func(state record.State, call string) *record.Evidence {
		return &record.Evidence{Process: process(31, host, state), Syscall: call, Wchan: "pipe_write", Descriptors: []record.Descriptor{
			{FD: 0, Mode: "read", Known: true, Holders: []record.Holder{{Identity: identity(32), FD: 5, Mode: "write", Role: "flaky#2"}}},
		}}
	}
	assert.Equal(t, "pipe-blocked", f.Hold(nil, evidence(record.StateSleeping, "write(2, ...)"), sec))
	assert.Equal(t, "pipe-blocked", f.Hold(nil, evidence(record.StateBlocked, "write(1, ...)"), sec))
	assert.Equal(t, "eof-withheld", f.Hold(nil, evidence(record.StateSleeping, "read(0)"), sec))
}

// servant is a server of a session, with the processes that a look shows before its birth.
func servant(script record.Action, ppid int, rows ...record.Process) (*Facts, *history.Server) {
	f := Of(runOf(census(0, record.Census{Role: record.CensusSample, Processes: rows}), born(ms, "flaky#1", "s1", 31, ppid)))
	s := f.Server("flaky#1")
	if script != "" {
		s.Faults = []history.FaultMark{{Fault: record.Fault{On: record.OnStart, Do: script}}}
	}
	return f, s
}

// carrier is a process with a server's command line among its own.
func carrier(pid, ppid int) record.Process {
	p := process(pid, ppid, record.StateSleeping)
	p.Args = []string{"sh", "-c", "leakbench fakeserver --run " + run + " --label flaky"}
	return p
}

// TestAHostWithItsServersCommandLine has launched the server itself all the same.
func TestAHostWithItsServersCommandLine(t *testing.T) {
	t.Parallel()
	itself := carrier(host, 10)
	itself.Start = 2000
	f, s := servant("", host, itself)
	kind, _ := f.OutOfReach(s, process(31, 10, record.StateSleeping))
	assert.Empty(t, kind)
}

// TestAProgramWithItsServersCommandLine is no launcher of them: the command of a oneshot host, which the bench's own runner starts,
// and a host behind a launcher of its own, which has launched several.
func TestAProgramWithItsServersCommandLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind    record.HostKind
		parent  int // of the process with the command line
		another bool
		left    string
	}{
		"a command":             {record.KindOneshot, host, false, ""},
		"what a command starts": {record.KindOneshot, 29, false, "shielded"},
		"what a host starts":    {record.KindGateway, host, false, "shielded"},
		"what launches several": {record.KindGateway, host, true, ""},
	} {
		events := []record.Event{
			census(0, record.Census{Role: record.CensusSample, Processes: []record.Process{carrier(30, c.parent)}}), born(ms, "flaky#1", "s1", 31, 30),
		}
		if c.another {
			events = append(events, born(2*ms, "flaky#2", "s1", 32, 30))
		}
		r := runOf(events...)
		r.Header.Host.Kind = c.kind
		f := Of(r)
		kind, _ := f.OutOfReach(f.Server("flaky#1"), process(31, 10, record.StateSleeping))
		assert.Equal(t, c.left, kind, name)
	}
}

// TestAServerThatWasForkedTwice is not behind what forked it: that was gone while the session went on. Of a launcher that goes with
// the session, the host may have ended that alone.
func TestAServerThatWasForkedTwice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state record.SessionState
		ppid  int
		kind  string
	}{
		"while it was opened":   {record.SessionOpening, 10, ""},
		"while it was open":     {record.SessionOpen, 10, ""},
		"when it was closed":    {record.SessionEnding, 10, "shielded"},
		"its launcher is there": {record.SessionOpen, 30, "shielded"},
	} {
		f := Of(runOf(
			census(0, record.Census{Role: record.CensusSample, Processes: []record.Process{carrier(30, host)}}),
			change(ms, c.state), born(ms, "flaky#1", "s1", 31, 30),
			census(2*ms, record.Census{Role: record.CensusSample, Processes: []record.Process{process(31, c.ppid, record.StateSleeping)}}),
		))
		kind, _ := f.OutOfReach(f.Server("flaky#1"), process(31, 10, record.StateSleeping))
		assert.Equal(t, c.kind, kind, name)
	}
}

// TestALauncherThatTheHostEnded while it replaced the server, or while the session went on, hid the server from it.
func TestALauncherThatTheHostEnded(t *testing.T) {
	t.Parallel()
	look := func(at int64, ppid int) record.Event {
		return census(at, record.Census{Role: record.CensusSample, Processes: []record.Process{process(31, ppid, record.StateSleeping)}})
	}
	opened := []record.Event{
		census(0, record.Census{Role: record.CensusSample, Processes: []record.Process{carrier(30, host)}}),
		change(ms, record.SessionOpening), born(ms, "flaky#1", "s1", 31, 30),
	}
	for name, c := range map[string]struct {
		then []record.Event
		kind string
	}{
		"it is opened anew":             {[]record.Event{change(2*ms, record.SessionOpen), change(3*ms, record.SessionOpening), look(4*ms, 10)}, "shielded"},
		"it was gone before":            {[]record.Event{look(2*ms, 10), change(3*ms, record.SessionOpen), change(4*ms, record.SessionOpening)}, ""},
		"it was there for a moment":     {[]record.Event{look(2*ms, 30), look(3*ms, 10), change(4*ms, record.SessionOpen)}, ""},
		"it was there when that worked": {[]record.Event{change(2*ms, record.SessionOpen), look(6*ms, 30), look(7*ms, 10)}, "shielded"},
	} {
		f := Of(runOf(slices.Concat(opened, c.then)...))
		f.Server("flaky#1").Established = 5 * ms
		kind, _ := f.OutOfReach(f.Server("flaky#1"), process(31, 10, record.StateSleeping))
		assert.Equal(t, c.kind, kind, name)
	}
}

// TestAServerThatWasForkedTwiceAhead of its session is behind nobody either.
func TestAServerThatWasForkedTwiceAhead(t *testing.T) {
	t.Parallel()
	f := Of(runOf(
		census(0, record.Census{Role: record.CensusSample, Processes: []record.Process{carrier(30, host)}}), born(ms, "flaky#1", "s1", 31, 30),
		change(2*ms, record.SessionOpening),
		census(3*ms, record.Census{Role: record.CensusSample, Processes: []record.Process{process(31, 10, record.StateSleeping)}}),
		change(4*ms, record.SessionOpen), change(5*ms, record.SessionEnding),
	))
	kind, _ := f.OutOfReach(f.Server("flaky#1"), process(31, 10, record.StateSleeping))
	assert.Empty(t, kind)
}

// TestWhoLaunchedIt: a launcher that stays is the parent at birth. The host, the keeper, and the proxy of a daemon are none.
func TestWhoLaunchedIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script   record.Action
		ppid     int
		launcher string
	}{
		"a wrapper":             {record.DoLauncher, 30, "(pid 30)"},
		"the host":              {record.DoLauncher, host, ""},
		"the keeper":            {record.DoLauncher, 10, ""},
		"the proxy of a daemon": {record.DoContainer, 30, ""},
	} {
		f, s := servant(c.script, c.ppid, carrier(30, host))
		kind, why := f.OutOfReach(s, process(31, 1, record.StateSleeping))
		assert.Equal(t, "shielded", kind, name)
		assert.Contains(t, why, "It was launched through another process", name)
		assert.Equal(t, c.launcher != "", strings.Contains(why, "(pid "), name)
		assert.Contains(t, why, c.launcher, name)
	}
}

// TestSessionsThatTheHostKnows: its own, and those of servers that it launched itself.
func TestSessionsThatTheHostKnows(t *testing.T) {
	t.Parallel()
	helper := process(40, 10, record.StateSleeping)
	helper.SID = 31
	for name, c := range map[string]struct {
		script record.Action
		ppid   int
		kind   string
	}{
		"of a server that it launched": {"", host, ""},
		"of one behind a launcher":     {record.DoLauncher, host, "escaped"},
		"of one that others launched":  {"", 30, "escaped"},
	} {
		f, s := servant(c.script, c.ppid)
		s.Birth.SID = 31
		kind, _ := f.OutOfReach(nil, helper)
		assert.Equal(t, c.kind, kind, name)
	}
}

// TestWhoLeftTheSession: who leads one, or is in one that the host knows nothing of; of a host whose own is unknown nobody can say.
func TestWhoLeftTheSession(t *testing.T) {
	t.Parallel()
	f, s := servant("", host)
	forked := process(40, 10, record.StateSleeping)
	assert.False(t, f.leftSession(forked))
	forked.SID = 77
	assert.True(t, f.leftSession(forked))
	f.Host().SID = 0
	assert.False(t, f.leftSession(forked))
	s.Birth.SID = 31
	leader := process(31, host, record.StateSleeping)
	leader.SID = 31
	assert.True(t, f.leftSession(leader), "though the host gave it that session")
}

// TestASessionSinceBirth is where whoever launched the server has put it: out of reach for want of that launcher.
func TestASessionSinceBirth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		parentAtBirth, parent int
		kind                  string
	}{
		"by a launcher that is gone":  {30, 10, "escaped"},
		"by a launcher that is there": {30, 30, ""},
		"by the host":                 {host, host, ""},
	} {
		f, s := servant("", c.parentAtBirth, carrier(30, host))
		s.Birth.SID = 31
		p := process(31, c.parent, record.StateSleeping)
		p.SID = 31
		kind, _ := f.OutOfReach(s, p)
		assert.Equal(t, c.kind, kind, name)
	}
	f, s := servant("", host)
	p := process(31, host, record.StateSleeping)
	p.SID = 77
	kind, why := f.OutOfReach(s, p)
	assert.Equal(t, "escaped", kind, "it left the session that it was born in")
	assert.NotContains(t, why, "launched through another process")
}

// TestOnlyALauncherIsOutlived: not by a server that has gone, nor by one that the host launched itself.
func TestOnlyALauncherIsOutlived(t *testing.T) {
	t.Parallel()
	apart := process(31, 10, record.StateSleeping)
	apart.SID = 31
	cp := func(rows ...record.Process) *Checkpoint {
		c := record.Census{Processes: rows}
		return &Checkpoint{Checkpoint: &history.Checkpoint{Settled: &c, SettledRows: history.RowsOf(&c)}}
	}
	f, s := servant("", host)
	kind, _ := f.OutlivedLauncher(cp(apart), s)
	assert.Empty(t, kind, "there is no launcher")
	f, s = servant(record.DoLauncher, 30)
	kind, _ = f.OutlivedLauncher(cp(apart), s)
	assert.Equal(t, "escaped", kind)
	kind, _ = f.OutlivedLauncher(cp(), s)
	assert.Empty(t, kind, "it has gone")
}

// TestTheProxyOfADaemon lives as long as somebody else holds the daemon's stdin.
func TestTheProxyOfADaemon(t *testing.T) {
	t.Parallel()
	holder := func(pid int) []record.Holder { return []record.Holder{{Identity: identity(pid), FD: 5, Mode: "write"}} }
	for name, c := range map[string]struct {
		seen  []record.Descriptor
		lives bool
	}{
		"nobody looked":          {nil, false},
		"it holds stdin":         {[]record.Descriptor{{FD: 0, Mode: "read", Known: true, Holders: holder(30)}}, true},
		"it holds something":     {[]record.Descriptor{{FD: 3, Mode: "read", Known: true, Holders: holder(30)}}, false},
		"the daemon holds stdin": {[]record.Descriptor{{FD: 0, Mode: "read", Known: true, Holders: holder(31)}}, false},
	} {
		events := append([]record.Event{born(ms, "flaky#1", "s1", 31, 30)}, checkpointAt(sec, false, nil, process(31, 1, record.StateSleeping))...)
		if c.seen != nil {
			survivor := record.Evidence{Process: process(31, 1, record.StateSleeping), Descriptors: c.seen}
			events = append(events[:3:3], at(2500*ms, record.Event{Kind: record.EvidenceTaken, Evidence: []record.Evidence{survivor}}), events[3])
		}
		f := Of(runOf(events...))
		s := f.Server("flaky#1")
		s.Faults = []history.FaultMark{{Fault: record.Fault{On: record.OnStart, Do: record.DoContainer}}}
		kind, _ := f.OutlivedLauncher(f.Checkpoints[0], s)
		assert.Equal(t, c.lives, kind == "", name)
	}
}

// TestWhatAHostStartsItself is where the host has put it; what its servers start is not the host's.
func TestWhatAHostStartsItself(t *testing.T) {
	t.Parallel()
	started := census(0, record.Census{Role: record.CensusStarted})
	daemon, helper := process(40, host, record.StateSleeping), process(41, 31, record.StateSleeping)
	daemon.SID, helper.SID = 40, 41
	launcher, forked := carrier(42, host), carrier(43, 10)
	launcher.SID, forked.SID = 42, 43
	f := Of(runOf(started, born(ms, "flaky#1", "s1", 31, host), census(sec, record.Census{Role: record.CensusSample, Processes: []record.Process{
		process(31, host, record.StateSleeping), daemon, helper, launcher, forked,
	}})))
	require.Equal(t, history.PartHelper, f.AttributionOf(helper.Identity).Part)
	kind, _ := f.OutOfReach(nil, daemon)
	assert.Empty(t, kind, "the host knows where it is")
	kind, _ = f.OutOfReach(nil, helper)
	assert.Equal(t, "escaped", kind)
	kind, _ = f.OutOfReach(nil, launcher)
	assert.Empty(t, kind, "the host launched it, and has its PID")
	kind, _ = f.OutOfReach(nil, forked)
	assert.Equal(t, "escaped", kind, "it carries a server, and is nobody's child")
}

// TestSessionsOfLaunchers: a host that gives what it launches a session of its own reaches all that stays in it by that number.
func TestSessionsOfLaunchers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first     record.Process // as the launcher was seen first
		hostEnded bool           // before that
		kind      string
	}{
		"by the host":                       {carrier(30, host), false, "shielded"},
		"by nobody who lives":               {carrier(30, 10), false, "escaped"},
		"by a host that nobody saw with it": {carrier(30, 10), true, "shielded"},
	} {
		first, server := c.first, process(31, 30, record.StateSleeping)
		first.SID, first.PGID = 30, 30
		server.SID, server.PGID = 30, 30
		birth := born(2*ms, "flaky#1", "s1", 31, 30)
		birth.Birth.SID, birth.Birth.PGID = 30, 30
		events := []record.Event{birth}
		if c.hostEnded {
			events = append(events, at(500*ms, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 1}}))
		}
		events = append(events, census(sec, record.Census{Role: record.CensusSample, Processes: []record.Process{first, server}}))
		f := Of(runOf(events...))
		server.PPID = 10
		kind, why := f.OutOfReach(f.Server("flaky#1"), server)
		assert.Equal(t, c.kind, kind, name)
		assert.Equal(t, kind == "escaped", strings.Contains(why, "No signal to the launched process group reaches it"), name)
		assert.Equal(t, kind == "shielded", f.WasEscaped(f.Server("flaky#1"), server), name)
		kind, _ = f.OutOfReach(nil, first)
		assert.Equal(t, c.kind == "escaped", kind == "escaped", "%s: its launcher", name)
		assert.Equal(t, c.kind == "shielded", f.WasEscaped(nil, first), "%s: its launcher", name)
	}
}

// TestSessionsOfLaunchersThatNobodySaw are where the host puts the others that it launches.
func TestSessionsOfLaunchersThatNobodySaw(t *testing.T) {
	t.Parallel()
	for name, gives := range map[string]bool{"a host that gives sessions": true, "a host that gives none": false} {
		other, birth := born(ms, "steady#1", "s2", 32, host), born(2*ms, "flaky#1", "s1", 31, 30)
		if gives {
			other.Birth.SID, other.Birth.PGID = 32, 32
		}
		birth.Birth.SID, birth.Birth.PGID = 30, 30
		f := Of(runOf(other, birth))
		s := f.Server("flaky#1")
		s.Faults = []history.FaultMark{{Fault: record.Fault{On: record.OnStart, Do: record.DoLauncher}}}
		p := process(31, 10, record.StateSleeping)
		p.SID, p.PGID = 30, 30
		kind, _ := f.OutOfReach(s, p)
		assert.Equal(t, gives, kind == "shielded", "%s: %s", name, kind)
	}
}

// TestWhichRenewalsCount: those of the same connection, up to the server that was ended.
func TestWhichRenewalsCount(t *testing.T) {
	t.Parallel()
	scheduled := func(reopened, younger bool) bool {
		events := []record.Event{born(40*sec, "flaky#1", "s1", 31, host), born(41*sec, "flaky#2", "s1", 32, host)}
		if reopened {
			events = append(events, change(41*sec+500*ms, record.SessionOpening))
		}
		r := runOf(append(events, born(42*sec, "flaky#3", "s1", 33, host), born(42*sec+200*ms, "flaky#4", "s1", 34, host), said(90*sec, record.SawEOF, ""))...)
		r.Header.Host.Profile.Renewal = record.Duration(10 * sec)
		f := Of(r)
		for i, id := range []string{"flaky#1", "flaky#2", "flaky#3", "flaky#4"} {
			s := f.Server(id)
			s.Established, s.EOF = s.Born, s.Born+500*ms+int64(i)
		}
		last := f.Server("flaky#3")
		last.EOF = 42*sec + 900*ms
		if younger {
			f.Server("flaky#1").EOF = never
			f.Server("flaky#4").EOF = 42*sec + 300*ms
		}
		f.Server("flaky#4").Died = never
		return f.OnSchedule(last, Harm{Kind: "cut-off", T: last.EOF})
	}
	assert.False(t, scheduled(false, false), "three within three seconds")
	assert.True(t, scheduled(true, false), "the first two were of a connection that had been opened before")
	assert.True(t, scheduled(false, true), "one of the three is younger")
}

// TestACancelBeforeABirth cancelled another server's call.
func TestACancelBeforeABirth(t *testing.T) {
	t.Parallel()
	cancel := func(t int64) record.Event {
		e := change(t, record.SessionOpen)
		e.Session.Why = record.WhyCancel
		return e
	}
	forgotten := change(5*sec, record.SessionEnded)
	forgotten.Session.Why = record.WhyForget
	cause := func(events ...record.Event) record.Cause {
		f := Of(runOf(append(events, forgotten)...))
		cause, _ := f.HowEnded(f.Server("flaky#1"), 9*sec)
		return cause
	}
	assert.Equal(t, record.CauseSessionForgotten, cause(cancel(sec), born(2*sec, "flaky#1", "s1", 31, host)))
	assert.Equal(t, record.CauseCallCancelled, cause(born(2*sec, "flaky#1", "s1", 31, host), cancel(3*sec)))
}

// TestALauncherThatIsAlone in a look is found there, and not in one before.
func TestALauncherThatIsAlone(t *testing.T) {
	t.Parallel()
	look := func(pid int) record.Event {
		return census(2*sec, record.Census{Role: record.CensusSample, Processes: []record.Process{process(pid, host, record.StateSleeping)}})
	}
	f := Of(runOf(look(29), look(30), born(9*sec, "flaky#1", "s1", 31, 30)))
	_, known := f.LaunchBegan(f.Server("flaky#1"))
	assert.True(t, known)
}
