package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

func TestAReloadThatHarmAccountsFor(t *testing.T) {
	t.Parallel()
	for _, harmed := range []bool{true, false} {
		p := newPlay()
		mine, _ := twoSessions(p)
		st := p.begin(record.Step{Op: "reload", Label: "flaky"})
		if harmed {
			p.term(mine)
			p.dead(mine)
		}
		p.end(st, "session job: lost")
		v := Judge(p.done())
		if harmed {
			assert.Empty(t, v.Doubts)
			assert.Equal(t, []string{"terminated"}, kindsIn(v))
		} else {
			assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v))
		}
	}
}

func TestWhatFailsWithTheHostNeedsNoOtherReason(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	call := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"})
	p.ask(a)
	p.stop("kill", func() { p.bye(a) })
	p.end(call, "the host has exited")
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, Clean, v.Outcome, account(v))
}

func TestAStepThatShouldHaveFailed(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "fail"}), "")
	v := Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v))
	assert.Contains(t, v.Doubts[0].Text, "relies on its failure")
}

func TestSpawnExpectationsNameTheirLimits(t *testing.T) {
	t.Parallel()
	for want, limits := range map[string][2]int{
		"at most 9 launches for a session":                                            {9, 0},
		"at most 8 launches of a server within a minute":                              {0, 8},
		"at most 9 launches for a session and 8 launches of a server within a minute": {9, 8},
	} {
		p := newPlay()
		p.run.Header.Limits.SpawnsPerSession, p.run.Header.Limits.SpawnsPerMinute = limits[0], limits[1]
		r := resultOf(Judge(simple(p)), "L7")
		assert.Equal(t, want, r.Expected)
		assert.Equal(t, "at most 1 for a session, 1 within a minute", r.Found)
	}
}

func TestLaunchesThatNeverFinishedAreCounted(t *testing.T) {
	t.Parallel()
	v := bothWays(t, func(p *play) *record.Run {
		p.run.Header.Limits.SpawnsPerSession = 2
		p.openFails("s1", "flaky", func() {
			for i := range 5 {
				a := p.launch("flaky", "s1")
				if i == 0 {
					p.greet(a)
					p.fault(a, "order", "exit", true)
				} else {
					p.fault(a, "initialize", "exit", true)
				}
				p.dead(a)
				p.wait(20 * ms)
			}
		})
		return p.done()
	})
	f := only(t, v, "respawn")
	assert.Contains(t, f.Why, "5 launches of flaky, half of them within 20")
	assert.Contains(t, f.Why, `; 4 never finished a handshake; 4 of them met the fault "exit on initialize".`)
}

func TestFaultsAreCountedByWhatTheyAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want  record.PlanFault
		codes []record.DoubtCode
	}{
		"as it was":      {record.PlanFault{Label: "flaky", On: "call", Do: "hang", Fires: 1}, nil},
		"another moment": {record.PlanFault{Label: "flaky", On: "order", Do: "hang", Fires: 1}, []record.DoubtCode{record.DoubtNotFired}},
		"another action": {record.PlanFault{Label: "flaky", On: "call", Do: "exit", Fires: 1}, []record.DoubtCode{record.DoubtNotFired}},
		"another label":  {record.PlanFault{Label: "steady", On: "call", Do: "hang", Fires: 1}, []record.DoubtCode{record.DoubtNotFired}},
		"each first":     {record.PlanFault{Label: "flaky", On: "call", Do: "hang", Every: 1, Fires: 1}, nil},
		"each second":    {record.PlanFault{Label: "flaky", On: "call", Do: "hang", Every: 2, Fires: 1}, []record.DoubtCode{record.DoubtNotFired}},
		"not required":   {record.PlanFault{Label: "flaky", On: "eof", Do: "ignore"}, nil},
	} {
		p := newPlay()
		p.run.Header.Plan.Faults = []record.PlanFault{c.want}
		p.fault(p.open("s1", "flaky"), "call", "hang", true)
		v := Judge(p.done())
		assert.ElementsMatch(t, c.codes, codesIn(v), name)
		if c.want.Every == 2 {
			assert.Contains(t, v.Doubts[0].Text, "(every launch divisible by 2)")
		}
	}
}

func TestDoubtTexts(t *testing.T) {
	t.Parallel()
	text := map[record.DoubtCode]string{}
	for _, c := range doubtCases {
		for _, d := range Judge(c.show(newPlay())).Doubts {
			text[d.Code] = d.Text
		}
	}
	assert.Equal(t, "the host launched flaky 1 time, the scenario needs 2", text[record.DoubtNotLaunched])
	assert.Equal(t, "the fault reject on initialize of flaky (launch 2) fired 0 times, the scenario needs 1", text[record.DoubtNotFired])
	assert.Equal(t, `call of echo of session s1 failed, and no law says why: "timed out"`, text[record.DoubtStepFailed])
	assert.Equal(t, "the run was stopped by SIGINT", text[record.DoubtInterrupted])
	assert.Equal(t, `1 step "reload" was skipped: "the driver does not offer it"`, text[record.DoubtStepSkipped])
}

// TestCallsThatNobodyCouldMake are told once for each reason, and are no steps that the host can't do.
func TestCallsThatNobodyCouldMake(t *testing.T) {
	t.Parallel()
	var said []string
	for _, d := range bothWays(t, func(p *play) *record.Run {
		p.open("s1", "flaky")
		for _, why := range []string{"pass call", "pass call", "no such method"} {
			st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"})
			st.NotPlayed, st.Error = true, why
			p.add(record.Event{Kind: record.StepSkipped, Step: &st})
		}
		p.quiet("after", want("flaky", "s1", 1))
		return p.done()
	}).Doubts {
		said = append(said, string(d.Code)+": "+d.Text)
	}
	assert.Equal(t, []string{"call-not-played: pass call (2 calls left out)", "call-not-played: no such method (1 call left out)"}, said)
}

func TestTheFaultThatWasInTheWayIsNamed(t *testing.T) {
	t.Parallel()
	v := bothWays(t, recoveryCases[0].near)
	assert.Contains(t, v.Doubts[0].Text, "(meanwhile flaky#2 committed its fault exit on initialize)")
	p := newPlay()
	a := p.open("s2", "flaky")
	p.fault(a, "order", "grow", false)
	p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"}), "no such session")
	v = Judge(p.done())
	assert.NotContains(t, v.Doubts[0].Text, "meanwhile")
}

func TestAStepWithoutAnEndIsNoFailure(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"})
	assert.Empty(t, Judge(p.done()).Doubts)
}

func TestTheHarmOfAReloadIsThatOfItsTime(t *testing.T) {
	t.Parallel()
	for _, before := range []bool{true, false} {
		p := newPlay()
		mine, _ := twoSessions(p)
		if before {
			p.term(mine)
			p.dead(mine)
		}
		p.end(p.begin(record.Step{Op: "reload", Label: "flaky"}), "lost")
		if !before {
			p.wait(2 * s)
			p.term(mine)
			p.dead(mine)
		}
		assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(Judge(p.done())))
	}
}

func TestCheckpointsOfTheSameName(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Plan.Checkpoints = []string{"round", "round", "other"}
	a := p.open("s1", "flaky")
	p.quiet("round", want("flaky", "s1", 1))
	p.close("s1", "flaky", func() {})
	p.restless("round", nil, want("flaky", "s1", 0))
	p.stop("stop", func() { p.bye(a) })
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"abandoned"}, kindsIn(v))
	assert.Equal(t, []record.DoubtCode{record.DoubtNoCheckpoint}, codesIn(v))
	assert.Contains(t, v.Doubts[0].Text, `"other"`)
	assert.Contains(t, v.Findings[0].Values[0], "still running 3 s")
}

func TestACheckpointThatNeverEnded(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Plan.Checkpoints = []string{"after"}
	p.open("s1", "flaky")
	cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 1)}}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.wait(s)
	p.look(record.CensusSettled, "after")
	v := Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtNoCheckpoint}, codesIn(v))

	p = newPlay()
	p.run.Header.Plan.Checkpoints = []string{"after"}
	p.open("s1", "flaky")
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	done := cp
	done.Quiet = true
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &done})
	v = Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtNoCheckpoint}, codesIn(v), "it has no census")
}

func TestDisagreementsThatAreNone(t *testing.T) {
	t.Parallel()
	p := newPlay() // it was dying when the census was taken
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.eof(a) })
	delete(p.procs, p.ids[a])
	p.restless("after", func() { p.dead(a) }, want("flaky", "s1", 0))
	assert.Equal(t, []record.DoubtCode{record.DoubtNotQuiet}, codesIn(Judge(p.done())), "but it was not in time for certain")

	p = newPlay() // the second look saw it
	a = p.open("s1", "flaky")
	row := p.procs[p.ids[a]]
	delete(p.procs, p.ids[a])
	p.restless("after", func() { p.procs[p.ids[a]] = row }, want("flaky", "s1", 1))
	assert.Equal(t, []record.DoubtCode{record.DoubtNotQuiet}, codesIn(Judge(p.done())))

	p = newPlay() // a dead fake server that never reported is no witness
	p.open("s1", "flaky")
	p.helperAt(700, record.Process{PPID: keeperPID, State: "Z", Args: []string{"x", "fakeserver", "--run", runID}})
	p.quiet("after", want("flaky", "s1", 1))
	p.helperGone(700)
	assert.Empty(t, Judge(p.done()).Doubts)

	p = newPlay() // somebody else's fake server
	p.open("s1", "flaky")
	p.helperAt(700, record.Process{PPID: hostPID, Args: []string{"x", "fakeserver", "--run", "another"}})
	p.helperAt(701, record.Process{PPID: hostPID, Args: []string{"x", "run", runID}})
	p.helperAt(702, record.Process{PPID: hostPID, Args: []string{"x"}})
	p.quiet("after", want("flaky", "s1", 1))
	for _, pid := range []int{700, 701, 702} {
		p.helperGone(pid)
	}
	assert.Empty(t, Judge(p.done()).Doubts)

	p = newPlay() // at a checkpoint that came to rest there is no second look
	p.open("s1", "flaky")
	p.helperAt(700, record.Process{PPID: hostPID, Args: []string{"x", "fakeserver", "--run", runID}})
	p.quiet("after", want("flaky", "s1", 1))
	p.quiet("again", want("flaky", "s1", 1))
	p.helperGone(700)
	assert.Equal(t, []record.DoubtCode{record.DoubtDisagree}, codesIn(Judge(p.done())), "and it is said once")
}

func TestABlindBirthIsKnownByItsPid(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	for i := range p.run.Events {
		if b := p.run.Events[i].Birth; b != nil {
			b.Start = 0
		}
	}
	p.stop("stop", nil)
	p.restless("host gone", nil)
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{a}, only(t, v, "orphan").Servers)
	assert.Empty(t, v.Doubts)
}

func TestSeveralDoNotAllTellTheSame(t *testing.T) {
	t.Parallel()
	for different, want := range map[int]string{0: "The other 3 look the same.", 1: "2 of the other 3 look the same.", 3: "The other 3 differ; see the evidence on each."} {
		p := newPlay()
		for i := range 4 {
			a := p.open("s1", "flaky")
			p.examined(a, holder("host", hostPID, 30+i))
			if i > 0 && i <= different {
				e := p.know[p.ids[a]]
				e.Syscall = "futex"
				p.know[p.ids[a]] = e
			}
			p.fault(a, "order", "hang", true)
		}
		p.open("s1", "flaky")
		p.restless("after", nil, record.Want{Label: "flaky", Session: "s1", Live: 1})
		f := only(t, Judge(p.done()), "superseded")
		assert.Contains(t, f.Why, want)
	}
}

// A host may fail a call before the note of the signal is in the file.
func TestTheNoteOfAHarmMayComeAfterItsEffect(t *testing.T) {
	t.Parallel()
	p := newPlay()
	mine, _ := twoSessions(p)
	p.call(mine, "user", "steady", "transport closed")
	other := p.begin(record.Step{Op: "call", Session: "side", Label: "steady"})
	p.end(other, "transport closed")
	p.wait(300 * ms)
	p.term(mine)
	p.dead(mine)
	v := Judge(p.done())
	assert.Equal(t, []string{"terminated"}, kindsIn(v))
	assert.Empty(t, v.Doubts)
}

// An event of a kind that this version does not know may have been a death.
func TestAnUnknownKindIsADoubt(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.add(record.Event{Kind: "martian"})
	assert.Equal(t, []record.DoubtCode{record.DoubtMalformed}, codesIn(Judge(simple(p))))
}

// A step that ended before it could be cancelled is a doubt, unless a law says
// what ended it.
func TestAStepThatWasNotCancelled(t *testing.T) {
	t.Parallel()
	for _, harmed := range []bool{true, false} {
		p := newPlay()
		srv := p.open("s1", "flaky")
		st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "fail"})
		if harmed {
			p.term(srv)
			p.dead(srv)
		}
		st.Uncut = true
		p.end(st, "lost")
		v := Judge(p.done())
		if harmed {
			assert.Empty(t, v.Doubts)
		} else {
			assert.Equal(t, []record.DoubtCode{record.DoubtNoCancel}, codesIn(v))
		}
	}
}

// TestACallOfASessionThatNeverOpened: that is told of the open, once.
func TestACallOfASessionThatNeverOpened(t *testing.T) {
	t.Parallel()
	for opened, want := range map[string]string{"": "call", "no such program": "open"} {
		p := newPlay()
		st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
		p.session("s1", "flaky", record.SessionOpening, "", false)
		p.end(st, opened)
		p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"}), "no session")
		var failed []string
		for _, d := range Judge(p.done()).Doubts {
			if d.Code == record.DoubtStepFailed {
				failed = append(failed, d.Text)
			}
		}
		if assert.Len(t, failed, 1) {
			assert.Contains(t, failed[0], want+" of ")
		}
	}
}

// A host that keeps servers on purpose may give one to the session that it had
// been kept from: it is not launched anew then. Others have to.
func TestAKeptServerIsUsedAgain(t *testing.T) {
	t.Parallel()
	for resident, codes := range map[int][]record.DoubtCode{0: {record.DoubtNotLaunched}, 1: {}} {
		for _, again := range []bool{true, false} {
			p := newPlay()
			p.run.Header.Host.Profile.Resident = resident
			p.run.Header.Plan = record.Plan{Labels: []record.PlanLabel{{Label: "flaky", Launches: 2}}}
			a := p.open("s1", "flaky")
			expected := codes
			if again {
				p.close("s1", "flaky", func() {})
			} else {
				expected = []record.DoubtCode{record.DoubtNotLaunched} // nothing had ended, so a reconnect has to launch
			}
			p.session("s1", "flaky", record.SessionOpening, "", false)
			p.session("s1", "flaky", record.SessionOpen, "", false)
			p.call(a, "s1", "flaky", "")
			p.quiet("after", want("flaky", "s1", 1))
			v := Judge(p.done())
			assert.Empty(t, v.Findings)
			assert.Equal(t, expected, codesIn(v), "resident %d, closed before %t", resident, again)
		}
	}
}

// A sweep that has killed a live session's server meets, later, one that is
// still being connected: what fails by that needs no other reason. Of a host
// that harms nobody it does.
func TestAJobWhoseServerASweepHasMet(t *testing.T) {
	t.Parallel()
	for _, harmed := range []bool{true, false} {
		p := newPlay()
		mine, _ := twoSessions(p)
		if harmed {
			p.term(mine)
			p.dead(mine)
		}
		p.wait(s)
		st := p.begin(record.Step{Op: "job", Session: "tick1.job1", Label: "flaky"})
		p.session("tick1.job1", "flaky", record.SessionOpening, "", false)
		srv := p.launch("flaky", "tick1.job1")
		p.add(record.Event{Kind: record.SawSignal, Server: srv, Signal: "SIGTERM", Text: "open"})
		p.dead(srv)
		p.session("tick1.job1", "flaky", record.SessionEnded, "", false)
		p.end(st, "transport closed")
		v := Judge(p.done())
		if harmed {
			assert.Empty(t, v.Doubts)
			assert.Contains(t, kindsIn(v), "terminated")
		} else {
			assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v))
		}
	}
}
