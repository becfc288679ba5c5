package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

func TestLaunchesPerMinute(t *testing.T) {
	t.Parallel()
	run := func(limit int) Verdict {
		p := newPlay()
		p.run.Header.Limits.SpawnsPerMinute = limit
		relaunch(p, 4, func() { p.wait(25 * s) }) // at 0, 25, 50 and 75 s: three within a minute
		return Judge(p.done())
	}
	assert.Equal(t, LawKept, resultOf(run(3), "L7").Status)
	f := only(t, run(2), "respawn")
	assert.Equal(t, "flaky was launched too often within a minute", f.Title)
	assert.Contains(t, f.Values[0], "3 launches within 50 s, 2 a minute allowed")
	assert.Contains(t, f.Why, `"exit"`)
}

func TestLaunchesOfUnknownSessionsCountPerMinuteOnly(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	p.run.Header.Limits.SpawnsPerSession = 1
	p.greet(p.launch("flaky", ""))
	b := p.launch("flaky", "")
	p.dead(b)
	assert.Equal(t, LawNotJudged, resultOf(Judge(p.done()), "L7").Status)
	p.run.Header.Limits.SpawnsPerMinute = 2
	assert.Equal(t, LawKept, resultOf(Judge(p.run), "L7").Status)
	p.run.Header.Limits.SpawnsPerMinute = 1
	assert.Equal(t, LawBroken, resultOf(Judge(p.run), "L7").Status)
}

func TestACloseThatWaitsForSomethingElse(t *testing.T) {
	t.Parallel()
	f := only(t, Judge(shutdownCases[1].show(newPlay())), "hung-close")
	assert.Contains(t, f.Why, "The close went on for 90 s after that, so it was not waiting for the server.")
	f = only(t, Judge(shutdownCases[0].show(newPlay())), "slow-close")
	assert.Contains(t, f.Why, "caught SIGTERM after 2 s and was gone after 6 s")
	assert.NotContains(t, f.Why, "went on")
}

func TestACloseThatNeverEnds(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.begin(record.Step{Op: "close", Session: "s1", Label: "flaky"})
	p.session("s1", "flaky", record.SessionEnding, "close", false)
	p.wait(8 * s)
	v := Judge(p.done())
	f := only(t, v, "hung-close")
	assert.Contains(t, f.Values[0], "not finished after 8.15 s")
}

func TestAKillIsNoSlowStop(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.stop("kill", func() { p.wait(20 * s); p.bye(a) })
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, LawNotJudged, resultOf(v, "L8").Status)
	assert.Empty(t, v.Findings)
}

func TestAnInterruptedCloseIsNotTheHosts(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	st := p.begin(record.Step{Op: "close", Session: "s1", Label: "flaky"})
	p.wait(8 * s)
	p.end(st, "stopped by SIGINT")
	assert.Empty(t, Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"})).Findings)
}

func TestRecoveryIsAlsoAboutCalls(t *testing.T) {
	t.Parallel()
	p := newPlay()
	relaunch(p, 1, func() {})
	b := p.open("s1", "flaky")
	p.call(b, "s1", "flaky", "no answer")
	f := only(t, Judge(p.done()), "no-recovery")
	assert.Equal(t, "1 call to flaky failed after the faults had ended", f.Title)

	p = newPlay() // opened before the fault: not a new session
	b = p.open("s1", "flaky")
	relaunch(p, 1, func() {})
	p.call(b, "s1", "flaky", "no answer")
	v := Judge(p.done())
	assert.Empty(t, v.Findings)
	assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v))
}

// TestASharedServerThatStaysBroken: a gateway that has one server for all of
// its clients goes on with the broken one, and the verdict does not say that
// nothing is wrong.
func TestASharedServerThatStaysBroken(t *testing.T) {
	t.Parallel()
	for gone, want := range map[bool]string{false: "with that server still in its place", true: "with nothing wrong any more"} {
		p := newPlay()
		p.run.Header.Host = record.Host{Kind: record.KindGateway, Servers: record.Shared}
		a := p.launch("flaky", "")
		p.greet(a)
		p.fault(a, "call", "stop-reading", true)
		if gone {
			p.bye(a)
			p.dead(a)
		}
		p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"}), "")
		p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"}), "no answer")
		assert.Contains(t, only(t, Judge(p.done()), "no-recovery").Why, want)
	}
}

func TestASessionThatWasHarmedIsNotAlsoUnrecovered(t *testing.T) {
	t.Parallel()
	p := newPlay()
	relaunch(p, 1, func() {})
	b := p.open("s1", "flaky")
	p.term(b)
	p.dead(b)
	p.call(b, "s1", "flaky", "transport closed")
	v := Judge(p.done())
	assert.Equal(t, []string{"terminated"}, kindsIn(v))
	assert.Empty(t, v.Doubts)
}

func TestAFailedOpenThatTheScenarioExpects(t *testing.T) {
	t.Parallel()
	p := newPlay()
	relaunch(p, 1, func() {})
	p.openFails("s1", "flaky", func() {})
	v := Judge(p.done())
	assert.Empty(t, v.Findings)
	assert.Equal(t, LawNotJudged, resultOf(v, "L10").Status)
}

func TestAZombieOfAnotherParent(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.helperAt(800, record.Process{PPID: hostPID, Comm: "npx"})
	p.helperAt(801, record.Process{PPID: 800, Comm: "node", State: "Z"})
	p.restless("after", nil, want("flaky", "s1", 1))
	p.helperGone(800)
	p.helperGone(801)
	f := only(t, Judge(p.done()), "zombie")
	assert.Contains(t, f.Title, "node")
	assert.Contains(t, f.Why, "its parent is npx (pid 800)")
	assert.Empty(t, f.Label)
}

func TestAZombieThatNobodyKnowsMustBeSeenTwice(t *testing.T) {
	t.Parallel()
	for earlier, kinds := range map[bool][]string{true: {"late-reaped"}, false: {}} {
		p := newPlay()
		p.open("s1", "flaky")
		p.helperAt(801, record.Process{PPID: hostPID, Comm: "node", State: "Z"})
		if earlier {
			p.look(record.CensusSample, "")
		}
		p.restless("after", func() { p.helperGone(801) }, want("flaky", "s1", 1))
		assert.Equal(t, kinds, kindsIn(Judge(p.done())))
	}
}

func TestHelpersAreGroupedByName(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.stop("stop", func() { p.bye(a) })
	p.helperAt(500, record.Process{PPID: keeperPID, SID: hostPID, Comm: "chrome\x1b[2J"})
	p.helperAt(501, record.Process{PPID: keeperPID, SID: hostPID, Comm: "chrome\x1b[2J"})
	p.helperAt(502, record.Process{PPID: keeperPID, SID: 502, Comm: "adb"})
	p.restless("host gone", func() { p.helperAt(503, record.Process{PPID: 500, SID: hostPID, Comm: "late"}) })
	v := Judge(p.over(record.End{Reason: "done"}))
	require.Equal(t, []string{"escaped", "helper", "helper"}, kindsIn(v), account(v))
	counts := map[string]int{}
	for _, f := range v.Findings {
		counts[f.Title] = f.Count
		assert.NotContains(t, f.Why, "\x1b")
	}
	assert.Equal(t, map[string]int{
		"1 helper process (adb) outlived the host":          1,
		"2 helper processes (chrome?[2J) outlived the host": 2,
		"1 helper process (late) outlived the host":         1,
	}, counts)
	assert.Equal(t, 4, v.Left)
}

func TestAServerThatGoesLateAfterTheHost(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.stop("stop", nil)
	p.restless("host gone", func() { p.bye(a) })
	v := Judge(p.over(record.End{Reason: "done"}))
	f := only(t, v, "deaf")
	assert.Contains(t, f.Values[0], "gone 2 s after the checkpoint began")
	assert.Equal(t, 0, v.Left)
}

func TestTheHostsOwnEndIsTold(t *testing.T) {
	t.Parallel()
	for want, end := range map[string]func(p *play){
		"The host was killed at +":  func(p *play) { p.stop("kill", nil) },
		"The host got SIGTERM at +": func(p *play) { p.stop("term", nil) },
		"exited with status 3 at +": func(p *play) {
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 3}})
		},
		"did not exit when asked and was ": func(p *play) {
			p.begin(record.Step{Op: "stop"})
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: -1, Signal: "SIGKILL", Asked: true}})
		},
		"asked to stop at +110 µs and was ended by S": func(p *play) {
			p.begin(record.Step{Op: "stop"})
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: -1, Signal: "SIGSEGV", Asked: true}})
		},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		end(p)
		p.restless("host gone", nil)
		v := Judge(p.over(record.End{Reason: "done"}))
		require.NotEmpty(t, v.Findings)
		assert.Contains(t, v.Findings[0].Why, want)
	}
}

func TestAKilledHostIsToldWhatToArrange(t *testing.T) {
	t.Parallel()
	killed := only(t, Judge(leftCases[0].show(newPlay())), "deaf")
	assert.Contains(t, killed.Fix, "PR_SET_PDEATHSIG")
	assert.NotContains(t, killed.Fix, "Escalate")
	asked := outlives("stop", func(p *play, a string) { p.eof(a) }, nil)
	f := only(t, Judge(asked(newPlay())), "deaf")
	assert.Contains(t, f.Fix, "Escalate")
	assert.NotEqual(t, killed.Fingerprint, f.Fingerprint)
}
