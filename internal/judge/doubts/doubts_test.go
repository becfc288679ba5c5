package doubts

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// TestTicksAfterTheHost: on Linux a start is counted in ticks of 10 ms, and a few of them tell nothing.
func TestTicksAfterTheHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start uint64
		os    string
		host  uint64
		after bool
	}{
		"as it went":     {2000 + 500 + 3, "linux", 2000, false},
		"after it":       {2000 + 500 + 4, "linux", 2000, true},
		"another system": {9999, "darwin", 2000, false},
		"start unknown":  {9999, "linux", 0, false},
	} {
		f := opened("s1")
		f.Header.System.OS = c.os
		h := f.Host()
		h.Start, h.Started, h.Exited = c.host, second, 6*second
		assert.Equal(t, c.after, f.bornAfter(h, record.Process{Identity: record.Identity{Start: c.start}}), name)
	}
}

// TestWhatCameAfterTheLastLook is a doubt, unless nobody looked after the host's end, or the bench had to end the host itself.
func TestWhatCameAfterTheLastLook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(p *play, cp *facts.Checkpoint)
		doubts int
	}{
		"reaped later":   {func(*play, *facts.Checkpoint) {}, 1},
		"before the end": {func(_ *play, cp *facts.Checkpoint) { cp.HostGone = false }, 0},
		"nobody looked":  {func(_ *play, cp *facts.Checkpoint) { cp.Settled = nil }, 0},
		"looked later":   {func(_ *play, cp *facts.Checkpoint) { cp.SettledAt = 90 * second }, 0},
		"born after the host": {func(p *play, cp *facts.Checkpoint) {
			cp.SettledAt = 90 * second
			p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: record.Identity{PID: 78, Start: 9 * hostStart}, Comm: "ghost"}})
		}, 1},
		"swept with it": {func(p *play, _ *facts.Checkpoint) {
			p.add(record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{{Identity: record.Identity{PID: hostPID, Start: hostStart}}}}})
		}, 0},
	} {
		p := newPlay()
		p.open("s1")
		p.add(record.Event{Kind: record.Died, Server: "flaky#1"})
		p.exit(record.Exit{Asked: true})
		cp := looked()
		cp.HostGone = true
		p.t += 20 * s
		p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: record.Identity{PID: 77, Start: 1}, Comm: "ghost"}})
		c.change(p, cp)
		f := p.search()
		f.Checkpoints = []*facts.Checkpoint{cp}
		f.doubtAfterEnd()
		assert.Len(t, f.found, c.doubts, name)
	}
}

// TestPlansThatWereNotPlayed tell when a fault was to fire.
func TestPlansThatWereNotPlayed(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]record.PlanFault{
		"fired 0 times": {}, " (launch 2)": {Launch: 2}, " (every launch divisible by 3)": {Every: 3}, " with probability 0.5 under seed 7": {Probability: 0.5},
	} {
		c.Label, c.On, c.Do, c.Fires = "flaky", "order", "hang", 1
		f := opened("s1")
		f.Header.Seed = 7
		f.Header.Plan.Faults = []record.PlanFault{c}
		f.doubtPlan()
		require.Len(t, f.found, 1)
		assert.Contains(t, f.found[0].Text, says)
		if c.Every == 0 {
			assert.NotContains(t, f.found[0].Text, "divisible")
		}
	}
	for name, c := range map[string]struct {
		end       record.End
		truncated string
		says      string
	}{
		"the program": {record.End{Reason: record.EndFailed, Stage: record.StageProgram, Error: "no"}, "", "the run was cut short: "},
		"the bench":   {record.End{Reason: record.EndFailed, Error: "no"}, "", "leakbench failed: "},
		"the file":    {record.End{Reason: record.EndDone}, "torn", "the file is not complete: torn"},
	} {
		p := newPlay()
		p.add(record.Event{Kind: record.Ended, End: &c.end})
		f := p.search()
		f.Truncated = c.truncated
		assert.True(t, f.doubtEnd(), name)
		require.NotEmpty(t, f.found, name)
		assert.Contains(t, f.found[0].Text, c.says, name)
	}
}

// TestWhatAScenarioIsAbout: of a host that is not driven, L1 and L4 may be unjudged, and each step that was skipped counts.
func TestWhatAScenarioIsAbout(t *testing.T) {
	t.Parallel()
	laws := []breach.Unjudged{{Law: "L1"}, {Law: "L4"}, {Law: "L2"}, {Law: "L5"}}
	for kind, doubts := range map[record.HostKind]int{record.KindCommand: 1, record.KindDriver: 3} {
		f := opened("s1")
		f.Header.Host.Kind = kind
		f.Header.Plan.Laws = []string{"L1", "L2", "L3", "L4"}
		f.Unjudged = laws
		f.doubtPurpose()
		assert.Len(t, f.found, doubts, kind)
	}
	f := opened("s1", "s2", "s3")
	f.Header.Plan.Defining = 4
	for i := range 3 {
		stepIn(f, i, record.Step{Op: record.OpCall, Defining: true, Error: "not that"}, second, second).Skipped = true
	}
	f.doubtPurpose()
	require.Len(t, f.found, 1)
	assert.Regexp(t, `^4 steps that this scenario is about were not run: \S*not that\S*$`, f.found[0].Text)
}

// TestUnaskedLaunches are doubted where a working server stood beside and the host's profile says nothing.
func TestUnaskedLaunches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *search, s *history.Server)
		doubts int
	}{
		"unasked":           {func(*search, *history.Server) {}, 1},
		"it keeps some":     {func(f *search, _ *history.Server) { f.Header.Host.Profile.Resident = 1 }, 0},
		"it has a spare":    {func(f *search, _ *history.Server) { f.Header.Host.Profile.Spare = 1 }, 0},
		"it ends idle ones": {func(f *search, _ *history.Server) { f.Header.Host.Profile.Idle = 1 }, 0},
		"it renews":         {func(f *search, _ *history.Server) { f.Header.Host.Profile.Renewal = 1 }, 0},
		"it keeps one for one": {func(f *search, _ *history.Server) {
			f.Header.Host.Profile.Resident, f.Header.Host.Profile.Spare, f.Header.Host.Profile.Idle, f.Header.Host.Profile.Renewal = 1, 1, 1, 1
		}, 0},
		"sessions unknown": {func(f *search, _ *history.Server) { f.Header.Host.Kind = record.KindCommand }, 0},
		"for a request": {func(f *search, _ *history.Server) {
			f.Session("flaky", "s1").Changes[1].Why = record.WhyRequest
		}, 0},
		"for each request": {func(f *search, _ *history.Server) {
			f.Session("flaky", "s1").Changes[1].Why = record.WhyPerRequest
		}, 0},
		"not open": {func(f *search, _ *history.Server) {
			f.Session("flaky", "s1").Changes[1].State = record.SessionEnded
		}, 0},
		"the host is about to end": {func(f *search, s *history.Server) { f.Host().AskedAt = s.Born }, 0},
		"the host ends":            {func(f *search, _ *history.Server) { f.Host().AskedAt = 49 * second }, 0},
		"asked just before": {func(f *search, _ *history.Server) {
			stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", OK: true}, 49*second, 49*second+second/2)
		}, 0},
		"its parent unseen": {func(_ *search, s *history.Server) { s.Birth.PPID = 999 }, 0},
	} {
		p := newPlay()
		p.open("s1")
		p.t += 50 * s
		p.launch("s1")
		f := p.search()
		c.change(f, f.servers[1])
		f.doubtUnasked()
		assert.Len(t, f.found, c.doubts, name)
	}
}

// TestLaunchesThatAHostMaySave: as many as sessions are opened again, after an end that may keep the server, of a host that keeps some.
func TestLaunchesThatAHostMaySave(t *testing.T) {
	t.Parallel()
	at := func(t int64, state record.SessionState, why record.Why) history.SessionChange {
		return history.SessionChange{Session: record.Session{State: state, Why: why}, T: t * second}
	}
	again := []history.SessionChange{at(1, record.SessionOpening, ""), at(2, record.SessionEnded, record.WhyClose), at(3, record.SessionOpening, ""), at(4, record.SessionEnded, record.WhyForget), at(5, record.SessionOpening, "")}
	for name, c := range map[string]struct {
		changes         []history.SessionChange
		resident, spare int
		label           string
		saved           int
	}{
		"kept":            {again, 1, 0, "flaky", 2},
		"spare":           {again, 0, 1, "flaky", 2},
		"as many of both": {again, 1, 1, "flaky", 2},
		"keeps none":      {again, 0, 0, "flaky", 0},
		"another label":   {again, 1, 0, "steady", 0},
		"another end":     {[]history.SessionChange{at(2, record.SessionEnded, record.WhyTick), at(3, record.SessionOpening, "")}, 1, 0, "flaky", 0},
		"no end":          {[]history.SessionChange{at(2, record.SessionEnding, record.WhyClose), at(3, record.SessionOpening, "")}, 1, 0, "flaky", 0},
		"no opening":      {[]history.SessionChange{at(2, record.SessionEnded, record.WhyClose), at(3, record.SessionEnded, "")}, 1, 0, "flaky", 0},
	} {
		f := opened("s1")
		f.Header.Host.Profile.Resident, f.Header.Host.Profile.Spare = c.resident, c.spare
		f.Session("flaky", "s1").Changes = c.changes
		assert.Equal(t, c.saved, f.reopened(c.label), name)
	}
}

// TestWhatOnlyTheLedgerSees: a server that was there for a while, was not about to die, and is in no census.
func TestWhatOnlyTheLedgerSees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *search, cp *facts.Checkpoint, s *history.Server)
		unseen bool
	}{
		"unseen":           {func(*search, *facts.Checkpoint, *history.Server) {}, true},
		"just born":        {func(f *search, _ *facts.Checkpoint, s *history.Server) { s.Born = 5*second - f.Blur() + 1 }, false},
		"born before that": {func(f *search, _ *facts.Checkpoint, s *history.Server) { s.Born = 5*second - f.Blur() }, true},
		"about to die":     {func(_ *search, _ *facts.Checkpoint, s *history.Server) { s.Died = 8 * second }, false},
		"died later":       {func(_ *search, _ *facts.Checkpoint, s *history.Server) { s.Died = 8*second + 1 }, true},
		"seen":             {func(_ *search, cp *facts.Checkpoint, s *history.Server) { cp.SettledRows = rowOf(s) }, false},
		"seen later":       {func(_ *search, cp *facts.Checkpoint, s *history.Server) { cp.ConfirmRows = rowOf(s) }, false},
		"no subreaper":     {func(f *search, _ *facts.Checkpoint, _ *history.Server) { f.Header.Witness.Subreaper = false }, false},
	} {
		f := opened("s1")
		cp := looked()
		cp.Alive = f.servers
		c.change(f, cp, f.servers[0])
		assert.Equal(t, c.unseen, len(f.unseen(cp)) == 1, name)
	}
}

func rowOf(s *history.Server) history.Rows {
	return history.RowsOf(&record.Census{Processes: []record.Process{{Identity: s.Birth.Identity, State: record.StateSleeping}}})
}
