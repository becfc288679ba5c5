package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

func TestTheKeepersOwnZombiesAreNobodysFault(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	p.helperAt(600, record.Process{PPID: keeperPID, State: "Z", Comm: "sh"})
	p.restless("after", nil, want("flaky", "s1", 0))
	assert.Equal(t, []string{"abandoned"}, kindsIn(Judge(p.done())))
}

func TestAProcessThatDiedOfLateIsNoOldZombie(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.helperAt(801, record.Process{PPID: hostPID, Comm: "node"})
	p.look(record.CensusSample, "")
	p.helperAt(801, record.Process{PPID: hostPID, Comm: "node", State: "Z"})
	p.restless("after", func() { p.helperGone(801) }, want("flaky", "s1", 1))
	assert.Empty(t, kindsIn(Judge(p.done())))
}

func TestWithoutAHostNothingIsReaped(t *testing.T) {
	t.Parallel()
	v := Judge(&record.Run{Events: []record.Event{{Seq: 1, Kind: record.Ended, End: &record.End{Reason: "failed", Stage: "host"}}}})
	assert.Equal(t, "the host did not start", resultOf(v, "L4").Reason)
	assert.Equal(t, []record.DoubtCode{record.DoubtHostFailed}, codesIn(v))
}

func TestTheLadderIsTold(t *testing.T) {
	t.Parallel()
	p := newPlay()
	for range 4 {
		p.open("s1", "flaky") // four of one session, none of them ended before
	}
	p.open("s2", "flaky")
	st := p.begin(record.Step{Op: "close", Session: "s1", Label: "flaky"})
	p.session("s1", "flaky", record.SessionEnding, "close", false)
	p.eof("flaky#1")
	p.wait(2 * s)
	p.term("flaky#1")
	p.wait(4 * s)
	p.dead("flaky#1")
	p.end(st, "gave up")
	p.dead("flaky#2")
	f := Judge(p.done()).Findings
	require.NotEmpty(t, f)
	hung := f[len(f)-1]
	assert.Equal(t, "hung-close", hung.Kind)
	assert.Contains(t, hung.Why, "flaky#1 (pid 101) read stdin EOF after ")
	assert.Contains(t, hung.Why, ", caught SIGTERM after 2 s and was gone after 6 s. flaky#2")
	assert.Contains(t, hung.Why, "flaky#2 (pid 102) was gone after 6 s, without having seen a request to exit.")
	assert.Contains(t, hung.Why, "1 more had to be ended.")
	assert.NotContains(t, hung.Why, "flaky#5")
	assert.NotContains(t, hung.Why, "went on for")
	assert.Contains(t, hung.Values[0], `"gave up"`)
}

func TestACloseThatHadNothingToWaitFor(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.fault(a, "order", "exit", true)
	p.dead(a)
	st := p.begin(record.Step{Op: "close", Session: "s1", Label: "flaky"})
	p.wait(6 * s)
	p.end(st, "")
	assert.Contains(t, only(t, Judge(p.done()), "slow-close").Why, "No server was alive that it had to wait for.")
}

func TestWithoutALimitAShutdownIsNotJudged(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Limits.Stop, p.run.Header.Limits.Close = 0, 0
	p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.bye("flaky#1") })
	assert.Equal(t, LawNotJudged, resultOf(Judge(p.done()), "L8").Status)
}

func TestASkippedCloseIsNoClose(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	p.greet(p.launch("flaky", ""))
	st := p.begin(record.Step{Op: "close", Session: "s1"})
	p.wait(8 * s)
	p.add(record.Event{Kind: record.StepSkipped, Step: &st})
	assert.Empty(t, Judge(p.done()).Findings)
}

func TestAHostKilledByAnotherIsNoHungStop(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	st := p.begin(record.Step{Op: "stop"})
	p.bye(a)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: -1, Signal: "SIGKILL", Asked: true}})
	p.end(st, "")
	p.quiet("host gone")
	assert.Empty(t, Judge(p.over(record.End{Reason: "done"})).Findings)

	p = newPlay()
	a = p.open("s1", "flaky")
	st = p.begin(record.Step{Op: "stop"})
	p.bye(a)
	p.end(st, "the driver said no")
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 1, Asked: true}})
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Empty(t, v.Findings)
	assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v), "a stop that fails at once is no hang, but no order either")
}

func TestRecoveryOfJobs(t *testing.T) {
	t.Parallel()
	v := bothWays(t, func(p *play) *record.Run {
		relaunch(p, 1, func() {})
		p.open("s9", "worker") // another session of the label
		return job(p, false, func(a string) { p.fault(a, "list", "garbage", false); p.bye(a) }, "no tools")
	})
	f := only(t, v, "no-recovery")
	assert.Contains(t, f.Why, "after the last fault of the run (exit of flaky#1)")
	assert.Contains(t, f.Why, "The host launched 1 server for it, and 1 finished the handshake.")
}

func TestAHostThatDiesNeedNotRecover(t *testing.T) {
	t.Parallel()
	p := newPlay()
	relaunch(p, 1, func() {})
	st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
	p.end(st, "the host has exited")
	p.begin(record.Step{Op: "open", Session: "s2", Label: "flaky"})
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 1}})
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"host-crashed"}, kindsIn(v))
	assert.Equal(t, []record.DoubtCode{record.DoubtHostExited}, codesIn(v))
}

func TestWhenTheHostEndsOfItself(t *testing.T) {
	t.Parallel()
	p := newPlay() // the bench's order was under way
	a := p.open("s1", "flaky")
	p.begin(record.Step{Op: "term"})
	p.bye(a)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 0}})
	p.quiet("host gone")
	assert.Equal(t, Clean, Judge(p.over(record.End{Reason: "done"})).Outcome)

	p = newPlay() // the sweep of a run cut short ended it
	a = p.open("s1", "flaky")
	p.wait(5 * s)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: -1, Signal: "SIGKILL"}})
	p.dead(a)
	assert.Equal(t, []record.DoubtCode{record.DoubtInterrupted}, codesIn(Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"}))))

	p = newPlay() // and in a file that is torn after that
	a = p.open("s1", "flaky")
	p.bye(a)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 1}})
	assert.Equal(t, []record.DoubtCode{record.DoubtTruncated, record.DoubtHostExited}, codesIn(Judge(p.run)))

	for want, h := range map[record.Cause]history.Host{
		record.CauseHostKilled: {AskedAt: never, Exit: record.Exit{Signal: "SIGKILL"}},
		record.CauseHostAsked:  {AskedAt: 5, AskedOp: "stop"},
		record.CauseHostEnded:  {AskedAt: never, Exit: record.Exit{Signal: "SIGSEGV"}},
	} {
		assert.Equal(t, want, ending(&h))
	}
	assert.Equal(t, record.CauseHostKilled, ending(&history.Host{AskedAt: 5, AskedOp: "kill"}))
	assert.Contains(t, prose.HostEnd(&history.Host{AskedAt: never, Exited: 5, Exit: record.Exit{Signal: "SIGKILL"}}, false), "without being asked to")
	told := func(h history.Host) string { h.Exited = 6e6; return prose.HostEnd(&h, true) }
	killed := record.Exit{Code: -1, Signal: "SIGKILL"}
	assert.Contains(t, told(history.Host{AskedOp: record.OpStop, AskedBy: "SIGKILL", Exit: killed}), "the host was killed at", "its file asks for that")
	assert.Contains(t, told(history.Host{AskedOp: record.OpTerm, AskedBy: "CTRL_C", Exit: killed}), "did not exit when asked and was killed")
	assert.Contains(t, told(history.Host{AskedOp: record.OpTerm, AskedBy: "CTRL_C"}), "the host got CTRL_C at")
	assert.Contains(t, told(history.Host{AskedOp: record.OpStop, AskedBy: "stdin EOF"}), "the host was asked to stop by stdin EOF at")
	assert.Contains(t, told(history.Host{AskedOp: record.OpTerm}), "the host got SIGTERM at", "a file that does not say it")
}

func TestTheKeepersLossExcusesOnlyItsTime(t *testing.T) {
	t.Parallel()
	for code, kinds := range map[record.DoubtCode][]string{record.DoubtKeeperLost: {"terminated"}, "no-cancel": {"terminated", "terminated"}} {
		p := newPlay()
		for _, label := range []string{"flaky", "steady"} { // one long before, one at the time
			a := p.open("s1", label)
			p.term(a)
			p.dead(a)
			if label == "flaky" {
				p.wait(5 * s)
			}
		}
		p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: code, Text: "x"}})
		p.wait(5 * s)
		p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: code, Text: "y"}})
		v := Judge(p.done())
		assert.Equal(t, kinds, kindsIn(v), code)
		assert.Equal(t, []record.DoubtCode{code, code}, codesIn(v))
	}
}

func TestStepsSideBySide(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	one := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Detail: "one"})
	two := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Detail: "two"})
	p.ask(a)
	p.answer(a)
	p.end(one, "failed")
	p.end(two, "")
	v := Judge(p.done())
	require.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v))
	assert.Contains(t, v.Doubts[0].Text, "call of one")
}

func TestAKillThatDidNotWork(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	st := p.begin(record.Step{Op: "kill"})
	p.end(st, "operation not permitted")
	p.bye(a)
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Asked: true}})
	p.quiet("host gone")
	assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(Judge(p.over(record.End{Reason: "done"}))))
}

func TestLaunchesThatWereNotNeeded(t *testing.T) {
	t.Parallel()
	p := newPlay() // said once, of the label, not again of the session
	p.run.Header.Plan.Labels = []record.PlanLabel{{Label: "flaky", Launches: 1}}
	p.session("s1", "flaky", record.SessionOpen, "", false)
	assert.Equal(t, []record.DoubtCode{record.DoubtNotLaunched}, codesIn(Judge(p.done())))

	p = newPlay() // a session that never came to be needs none
	p.session("s2", "flaky", record.SessionOpening, "", false)
	p.session("s2", "flaky", record.SessionEnded, "could not be opened", false)
	assert.Empty(t, Judge(simple(p)).Doubts)
}

func TestLeftCountsWhatOutlivedTheHost(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	p.restless("after", nil, want("flaky", "s1", 0))
	assert.Zero(t, Judge(p.over(record.End{Reason: "interrupted"})).Left, "the host had not ended")

	p = newPlay()
	a := p.open("s1", "flaky")
	p.stop("stop", func() { p.bye(a) })
	p.helperAt(600, record.Process{PPID: keeperPID, State: "Z", Comm: "sh"})
	p.quiet("host gone")
	p.add(record.Event{Kind: record.Swept, Census: p.census()})
	assert.Zero(t, Judge(p.over(record.End{Reason: "done"})).Left, "a zombie of the keeper is nothing")
}

func TestTheFaultThatBrokeItIsTheCause(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.fault(a, "order", "grow", false)
	p.fault(a, "order", "close-stdout", true)
	p.fault(a, "eof", "ignore", false)
	p.open("s1", "flaky")
	p.restless("after", nil, want("flaky", "s1", 1))
	assert.Contains(t, only(t, Judge(p.done()), "superseded").Title, "(after close-stdout)")
}

func TestTheRealHostBehindAShellIsNoLauncher(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "node", Args: []string{"node", "gateway.js"}})
	a := p.launch("flaky", "s1", 400)
	p.greet(a)
	p.quiet("in between", want("flaky", "s1", 1))
	p.stop("stop", nil)
	p.helperGone(400)
	row := p.procs[p.ids[a]]
	row.PPID = keeperPID
	p.procs[p.ids[a]] = row
	p.restless("host gone", nil)
	assert.Equal(t, []string{"orphan"}, kindsIn(Judge(p.over(record.End{Reason: "done"}))))
}

func TestAZombieThatTheLedgerHoldsForAlive(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	row := p.procs[p.ids[a]]
	row.State, row.PPID = "Z", keeperPID
	p.procs[p.ids[a]] = row
	p.restless("after", nil, want("flaky", "s1", 1))
	assert.Equal(t, []record.DoubtCode{record.DoubtDisagree}, codesIn(Judge(p.done())))
}

func TestEventsThatCanNotBe(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]record.Event{
		"a birth without a name":            {Kind: record.Born, Birth: &record.Birth{Label: "flaky"}},
		"a second birth":                    {Kind: record.Born, Server: "flaky#1", Birth: &record.Birth{Label: "flaky"}},
		"the death of one who was not born": {Kind: record.Died, Server: "flaky#7"},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		p.add(e)
		assert.Equal(t, []record.DoubtCode{record.DoubtMalformed}, codesIn(Judge(p.done())), name)
	}
	p := newPlay()
	r := simple(p)
	r.Events[3].T = 0
	assert.Equal(t, []record.DoubtCode{record.DoubtMalformed}, codesIn(Judge(r)), "time does not run back")
}

func TestASignalAfterTheLookIsNotInTheStory(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	p.examined(a, holder("host", hostPID, 7))
	p.restless("after", func() { p.term(a); p.dead(a) }, want("flaky", "s1", 0))
	assert.Contains(t, only(t, Judge(p.done()), "late").Why, "no signal reached it")
}
