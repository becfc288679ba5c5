package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// TestWhereABystanderStood is told with what the host was doing, in whose group it was, and how it ended.
func TestWhereABystanderStood(t *testing.T) {
	t.Parallel()
	ended := func(pgid int, x record.Exit) *record.Event {
		return &record.Event{Kind: record.BystanderSeen, T: 5 * second, Text: record.StandsAsTwin, Server: "flaky", Exit: &x, Process: &record.Process{Identity: record.Identity{PID: 9}, PGID: pgid}}
	}
	for name, c := range map[string]struct {
		e             *record.Event
		asked, exited int64
		cause         record.Cause
		own           bool
		says          []string
	}{
		"by a signal":         {ended(hostPID, record.Exit{Signal: "SIGTERM"}), never, never, record.CauseHostAtWork, false, []string{"was ended by SIGTERM", "the host's own process group"}},
		"by itself":           {ended(77, record.Exit{Code: 3}), never, never, record.CauseHostAtWork, false, []string{"exited with status 3", "process group 77"}},
		"as the host ended":   {ended(hostPID, record.Exit{Signal: "SIGTERM"}), 5, never, record.CauseHostEnding, true, []string{"SIGTERM"}},
		"before it was asked": {ended(hostPID, record.Exit{Signal: "SIGTERM"}), 6, never, record.CauseHostAtWork, false, []string{"SIGTERM"}},
		"in another group":    {ended(77, record.Exit{Signal: "SIGTERM"}), 5, never, record.CauseHostEnding, false, []string{"process group 77"}},
		"without a signal":    {ended(hostPID, record.Exit{}), 5, never, record.CauseHostEnding, false, []string{"status 0"}},
		"after the host":      {ended(hostPID, record.Exit{Signal: "SIGTERM"}), 4, 5, record.CauseAfterHost, true, []string{"SIGTERM"}},
	} {
		f := opened("s1")
		f.Host().AskedAt, f.Host().Exited = never, never
		if c.asked >= 0 {
			f.Host().AskedAt = c.asked * second
		}
		if c.exited >= 0 {
			f.Host().Exited = c.exited * second
		}
		assert.Equal(t, c.cause, f.phaseOf(5*second), name)
		assert.Equal(t, c.own, f.withOwnGroup(c.e), name)
		f.bystanderBreach(c.e, "bystander", "")
		require.Len(t, f.Breaches, 1)
		for _, says := range c.says {
			assert.Contains(t, f.Breaches[0].Narrative+f.Breaches[0].Value, says, name)
		}
	}
}

// TestSessionsThatNobodyKnows: of a host that is not driven, L3 has the bystanders alone, and L7 the minutes.
func TestSessionsThatNobodyKnows(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	f.Header.Host.Kind = record.KindCommand
	f.Header.Limits.SpawnsPerMinute = 5
	assert.Equal(t, "leakbench does not know the sessions of a host that it does not drive", judgeCollateral(f).Reason)
	assert.Equal(t, "at most 1 within a minute", judgeSpawning(f).Found)
	f.Breaches = []*breach.Breach{{Law: "L3"}}
	assert.Equal(t, "a bystander ended; the sessions are not known to the bench", judgeCollateral(f).Found)
	f = opened()
	assert.Equal(t, "no session was opened", judgeCollateral(f).Reason)
	f = opened("s1", "", "")
	f.Header.Limits.SpawnsPerSession = 1
	assert.Equal(t, 1, f.judgePerSession(1), "servers of no session are not counted as one")
	assert.Empty(t, f.Breaches)
}

// TestHowLongSomethingWasLeft ends with its death, between two looks, or not at all.
func TestHowLongSomethingWasLeft(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	s := f.servers[0]
	p := record.Process{Identity: s.Birth.Identity, State: record.StateSleeping}
	cp := looked(p)
	assert.Equal(t, []string{"still running 4 s after the checkpoint began"}, f.lasted(cp, p))
	cp.Early = record.EarlyFinal
	assert.Equal(t, []string{"still running 4 s after the checkpoint began", "and nobody was left who could end it"}, f.lasted(cp, p))
	cp.Confirm, cp.ConfirmAt, cp.ConfirmRows = &record.Census{}, 7*second, history.RowsOf(&record.Census{})
	assert.Equal(t, []string{"gone between 1 s and 3 s after the checkpoint began"}, f.lasted(cp, p))
	s.Died = 6 * second
	assert.Equal(t, []string{"gone 2 s after the checkpoint began"}, f.lasted(cp, p))

	other := record.Process{Identity: record.Identity{PID: 50, Start: 9}, State: record.StateSleeping}
	older := record.Process{Identity: record.Identity{PID: 50, Start: 4}, State: record.StateSleeping}
	itself := record.Process{Identity: f.Host().Identity, State: record.StateSleeping}
	zombie := record.Process{Identity: record.Identity{PID: 51}, State: record.StateZombie}
	cp = looked(p, other, itself, zombie)
	cp.HostGone = true
	cp.Confirm, cp.ConfirmRows = &record.Census{Processes: []record.Process{older, p}}, rowOf(s)
	cp.Extra = f.servers
	left := f.leftAt(cp, f.Host())
	assert.Equal(t, []record.Process{older, other, p}, left, "in order, each once")
	f.Header.Witness.Subreaper = false
	assert.Equal(t, left, f.leftAt(cp, f.Host()), "the census saw it")
	cp.Settled.Processes, cp.SettledRows, cp.Confirm = nil, nil, nil
	require.Len(t, f.leftAt(cp, f.Host()), 1)
	assert.Equal(t, record.StateUnknown, f.leftAt(cp, f.Host())[0].State, "the ledger alone knows of it")
}

// TestGhostsAreLaunchedInVain: they are launched after their session's end, while their host was at work.
func TestGhostsAreLaunchedInVain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile, s *history.Server)
		ghost  bool
	}{
		"a ghost":            {func(*casefile, *history.Server) {}, true},
		"the host has spare": {func(f *casefile, _ *history.Server) { f.Header.Host.Profile.Spare = 1 }, false},
		"it keeps some":      {func(f *casefile, _ *history.Server) { f.Header.Host.Profile.Resident = 1 }, false},
		"told of already":    {func(_ *casefile, s *history.Server) { s.ID = "seen" }, false},
		"the host was going": {func(f *casefile, _ *history.Server) { f.Host().AskedAt = 49 * second }, false},
		"its parent unseen":  {func(_ *casefile, s *history.Server) { s.Birth.PPID = 999 }, false},
		"of a life before":   {func(f *casefile, _ *history.Server) { f.Host().Started = 40 * second }, false},
		"an open session": {func(f *casefile, _ *history.Server) {
			f.Session("flaky", "s1").Changes[1].State = record.SessionOpen
		}, false},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		p.wait(50 * s)
		p.launch("flaky", "s1")
		f := open(p.run)
		for _, o := range f.servers {
			o.Birth.Start = 2000 + uint64(o.Born/int64(ms)/10)
		}
		f.Session("flaky", "s1").Changes[1].State = record.SessionEnded
		c.change(f, f.servers[1])
		f.judgeGhosts(map[string]bool{"seen": true})
		assert.Equal(t, c.ghost, len(f.Breaches) == 1, name)
	}
	f := opened("s1")
	g := f.servers[0]
	g.Born = 5 * second
	assert.Contains(t, f.ghostBreach(g, 2*second).Value, "launched 3 s after its session had ended, still there at the end")
	g.Died = 9 * second
	assert.Contains(t, f.ghostBreach(g, 2*second).Value, "launched 3 s after its session had ended, gone 4 s later")
}

// TestHowASessionEndedForTheNextServer: what lay between two births of one session.
func TestHowASessionEndedForTheNextServer(t *testing.T) {
	t.Parallel()
	at := func(t int64, state record.SessionState, why record.Why) history.SessionChange {
		return history.SessionChange{Session: record.Session{State: state, Why: why}, T: t * second}
	}
	for name, c := range map[string]struct {
		changes []history.SessionChange
		ended   int64
	}{
		"nothing":            {nil, never},
		"a reconnect":        {[]history.SessionChange{at(5, record.SessionOpening, "")}, never},
		"a close":            {[]history.SessionChange{at(4, record.SessionEnded, ""), at(5, record.SessionOpening, "")}, 5*second - 1},
		"an end under way":   {[]history.SessionChange{at(4, record.SessionEnding, ""), at(5, record.SessionOpening, "")}, 5*second - 1},
		"a cancelled call":   {[]history.SessionChange{at(4, record.SessionOpen, record.WhyCancel), at(5, record.SessionOpening, "")}, 5*second - 1},
		"an end alone":       {[]history.SessionChange{at(4, record.SessionEnded, ""), at(5, record.SessionOpen, "")}, 4 * second},
		"an end before both": {[]history.SessionChange{at(2, record.SessionEnded, ""), at(5, record.SessionOpening, "")}, never},
		"an end after both":  {[]history.SessionChange{at(9, record.SessionEnded, "")}, never},
	} {
		f := opened("s1", "s1")
		one, two := f.servers[0], f.servers[1]
		one.Born, two.Born = 2*second, 8*second
		f.Session("flaky", "s1").Changes = c.changes
		assert.Equal(t, c.ended, f.EndedBefore(one, two), name)
		assert.Equal(t, never, f.EndedBefore(one, nil), name)
	}
	for says, c := range map[string]struct {
		inits int
		fault *record.Fault
	}{
		"was launched and never asked to initialize": {0, nil}, "flaky#1 never finished a handshake": {1, nil}, "never finished the handshake (its fault: hang)": {1, &record.Fault{Do: "hang", On: "order"}},
	} {
		assert.Contains(t, stranded(&history.Server{ID: "flaky#1", Inits: c.inits}, c.fault).head, says)
	}
	probe := func() *history.Server {
		return &history.Server{ID: "flaky#1", LastRPC: record.RPCInfo{Method: "tools/list", Phase: record.PhaseAnswered}}
	}
	assert.Contains(t, probeFix(loss{}, probe()).fix, "flaky#1 was asked tools/list, answered, and was asked nothing more")
	for name, change := range map[string]func(s *history.Server){
		"called": func(s *history.Server) { s.Calls = []history.Call{{}} }, "without an answer": func(s *history.Server) { s.LastRPC.Phase = record.PhaseReceived },
		"only initialized": func(s *history.Server) { s.LastRPC.Method = record.MethodInitialize },
	} {
		s := probe()
		change(s)
		assert.Empty(t, probeFix(loss{}, s).fix, name)
	}
}

// TestTwins: an older server of the same connection that the host had for as long as it lasted.
func TestTwins(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile, old, s *history.Server)
		twin   bool
	}{
		"a twin":             {func(*casefile, *history.Server, *history.Server) {}, true},
		"it died later":      {func(_ *casefile, old, _ *history.Server) { old.Died = 4 * second }, true},
		"it died before":     {func(_ *casefile, old, _ *history.Server) { old.Died = 4*second - 1 }, false},
		"never worked":       {func(_ *casefile, old, _ *history.Server) { old.Established = never }, false},
		"worked too late":    {func(_ *casefile, old, _ *history.Server) { old.Established = 4*second + 1 }, false},
		"of another session": {func(_ *casefile, old, _ *history.Server) { old.Session = "s2" }, false},
		"of another label":   {func(_ *casefile, old, _ *history.Server) { old.Label = "steady" }, false},
		"of no session":      {func(_ *casefile, old, s *history.Server) { old.Session, s.Session = "", "" }, false},
		"broken":             {func(_ *casefile, old, _ *history.Server) { old.Broken = second }, false},
		"opened anew": {func(f *casefile, _, _ *history.Server) {
			f.Session("flaky", "s1").Changes[0].State = record.SessionOpening
		}, false},
		"rivals, opened anew": {func(f *casefile, old, s *history.Server) {
			f.Session("flaky", "s1").Changes[0].State = record.SessionOpening
			old.Race, s.Race = 1, 1
		}, true},
	} {
		f := opened("s1", "s1")
		old, s := f.servers[0], f.servers[1]
		old.Born, old.Established, s.Born = second, second, 2*second
		f.Session("flaky", "s1").Changes = []history.SessionChange{
			{Session: record.Session{State: record.SessionOpen}, T: 2 * second}, {Session: record.Session{State: record.SessionOpen}, T: 3 * second}, {Session: record.Session{State: record.SessionEnded}, T: 4 * second},
		}
		c.change(f, old, s)
		assert.Equal(t, c.twin, f.twin(looked(), s) == old, name)
	}
	f := opened("s1", "s1")
	f.servers[1].Born = 5 * second
	assert.Equal(t, f.servers[1], f.successor(looked(), f.servers[0]))
	f.servers[1].Born++
	assert.Nil(t, f.successor(looked(), f.servers[0]), "it came after the look")
	f = opened("", "")
	f.servers[0].Born, f.servers[1].Born = 5*second, 5*second+int64(history.SameMoment)-1
	assert.True(t, f.isDuplicate(f.servers[0], f.servers[1]))
	f.servers[1].Born++
	assert.False(t, f.isDuplicate(f.servers[0], f.servers[1]))
}

// TestWhenItWasGone is told by the host's end where it came to that.
func TestWhenItWasGone(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	f.Host().AskedAt, f.Host().Exited = 4*second, 5*second
	assert.Regexp(t, "^at .*3", f.when(3*second))
	assert.Equal(t, "only with the host", f.when(5*second+int64(100*ms)))
	assert.Equal(t, "2 s after the host", f.when(7*second))
	f.Host().AskedAt, f.Host().Exited = never, never
	assert.Contains(t, f.when(7*second), "at ")
	f.Header.Host.Profile.Resident, f.Header.Host.Profile.Spare = 2, 1
	assert.Contains(t, judgeFlat(f).Expected, "; up to 3 of each label kept on purpose")
	assert.NotContains(t, judgeFlat(opened("s1")).Expected, "on purpose")
}

// TestTheFirstHarmCounts of a session, in whatever order they are found.
func TestTheFirstHarmCounts(t *testing.T) {
	t.Parallel()
	f := opened("s1")
	key := facts.SessionKey{Label: "flaky", Name: "s1"}
	f.harm(f.servers[0], 5*second)
	f.harm(f.servers[0], 7*second)
	assert.Equal(t, 5*second, f.Harmed[key], "the first harm counts")
	f.harm(f.servers[0], 3*second)
	assert.Equal(t, 3*second, f.Harmed[key])
}
