package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// bothWays judges a play alone and among bystanders, which must not matter.
func bothWays(t *testing.T, show func(p *play) *record.Run) Verdict {
	t.Helper()
	v, beside := Judge(show(newPlay())), Judge(show(withCrowd()))
	assert.Equal(t, kindsIn(v), kindsIn(beside), account(beside))
	assert.Equal(t, codesIn(v), codesIn(beside), account(beside))
	return v
}

func TestASuccessorThatComesAfterTheCheckpoint(t *testing.T) {
	t.Parallel()
	v := bothWays(t, func(p *play) *record.Run {
		p.open("s1", "flaky")
		p.close("s1", "flaky", func() {})
		p.restless("after", nil, want("flaky", "s1", 0))
		p.open("s1", "flaky")
		return p.done()
	})
	assert.Equal(t, []string{"abandoned"}, kindsIn(v))
}

func TestAHostThatLaunchesASecondServerByItself(t *testing.T) {
	t.Parallel()
	v := bothWays(t, func(p *play) *record.Run {
		p.open("s1", "flaky")
		p.greet(p.launch("flaky", "s1"))
		p.restless("after", nil, want("flaky", "s1", 1))
		return p.done()
	})
	assert.Equal(t, []string{"duplicate"}, kindsIn(v))

	v = bothWays(t, func(p *play) *record.Run { // opened anew only after both
		p.open("s1", "flaky")
		b := p.launch("flaky", "s1")
		p.greet(b)
		p.bye(p.open("s1", "flaky"))
		p.open("s1", "flaky")
		p.bye(b)
		p.restless("after", nil, want("flaky", "s1", 1))
		return p.done()
	})
	assert.Contains(t, kindsIn(v), "duplicate")
	assert.NotContains(t, kindsIn(v), "superseded")
}

func TestAReconnectIsNamed(t *testing.T) {
	t.Parallel()
	v := bothWays(t, func(p *play) *record.Run {
		p.open("s1", "flaky")
		p.open("s1", "flaky")
		p.restless("after", nil, want("flaky", "s1", 1))
		return p.done()
	})
	assert.Contains(t, only(t, v, "superseded").Title, "(reconnect)")
}

func TestOthersOfTheLabelAreCountedForWhatTheyAre(t *testing.T) {
	t.Parallel()
	f := only(t, Judge(flatCases[1].show(withCrowd())), "superseded")
	assert.Equal(t, `3 servers of flaky alive at checkpoint "after", within 1s`, f.Expected)
	assert.Equal(t, "4 alive, 1 of them superseded", f.Found)
}

func TestASessionThatIsEnding(t *testing.T) {
	t.Parallel()
	v := bothWays(t, func(p *play) *record.Run {
		p.open("s1", "flaky")
		p.session("s1", "flaky", record.SessionEnding, "close", false)
		p.restless("after", nil, want("flaky", "s1", 0))
		return p.done()
	})
	assert.Contains(t, only(t, v, "abandoned").Title, "(session closed)")
}

func TestACheckpointWithoutACensus(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	cp := record.Checkpoint{Name: "after"}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	v := Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"}))
	for _, law := range []string{"L1", "L2", "L4"} {
		assert.Equal(t, LawNotJudged, resultOf(v, law).Status, law)
	}
}

func TestWithoutASubreaperTheLedgersWordMustDo(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Witness.Subreaper = false
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	delete(p.procs, p.ids[a])
	p.restless("after", nil, want("flaky", "s1", 0))
	p.stop("stop", func() { p.bye(a) })
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"abandoned"}, kindsIn(v))
	assert.Empty(t, v.Doubts)
}

func TestWhatIsLeftIsFoundOnce(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.stop("kill", nil)
	p.restless("after the crash", nil)
	p.restless("host gone", nil)
	p.dead(a)
	f := only(t, Judge(p.over(record.End{Reason: "done"})), "orphan")
	assert.Equal(t, "after the crash", f.Checkpoint)
	require.Len(t, f.Values, 1)
	assert.Contains(t, f.Values[0], "still running 3s after", "the sweep's end of it is no merit of the host")
}

func TestALauncherThatSurvivesWithItsServer(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "sh", Args: []string{"sh", "-c", "leakbench fakeserver --run " + runID}})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	p.greet(p.launch("flaky", "s1", 400))
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.quiet("in between", want("flaky", "s1", 1))
	p.stop("stop", nil)
	p.restless("host gone", func() { p.helperGone(400) })
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"helper", "orphan"}, kindsIn(v), account(v))
	assert.Contains(t, v.Findings[0].Values[0], "gone between 1s and 3s after")
}

func TestASessionOfItsOwnIsAnEscapeOnlyBehindALauncher(t *testing.T) {
	t.Parallel()
	for behind, kind := range map[bool]string{true: "escaped", false: "orphan"} {
		p := newPlay()
		parent := hostPID
		if behind {
			parent = 400
			p.helperAt(400, record.Process{PPID: hostPID, SID: hostPID, Comm: "sh", Args: []string{"sh", "-c", "leakbench fakeserver --run " + runID}})
		}
		a := p.launch("flaky", "s1", parent)
		p.greet(a)
		birth := p.run.Events[len(p.run.Events)-4].Birth
		row := p.procs[p.ids[a]]
		birth.SID, row.SID = row.PID, row.PID
		p.procs[p.ids[a]] = row
		p.quiet("in between", want("flaky", "s1", 1))
		p.helperGone(400)
		row.PPID = keeperPID
		p.procs[p.ids[a]] = row
		p.stop("stop", nil)
		p.restless("host gone", nil)
		v := Judge(p.over(record.End{Reason: "done"}))
		assert.Equal(t, []string{kind}, kindsIn(v), account(v))
	}
}

func TestNoSessionNoCollateral(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.greet(p.launch("flaky", ""))
	v := Judge(p.done())
	assert.Equal(t, LawNotJudged, resultOf(v, "L3").Status)
	assert.Contains(t, resultOf(v, "L3").Reason, "no session")
}

func TestHarmAmongBystanders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		show  func(p *play) *record.Run
		kinds []string
		codes []string
	}{
		"opened again after the harm": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "flaky")
				p.open("s2", "flaky")
				p.term(a)
				p.dead(a)
				p.open("s1", "flaky")
				return p.done()
			},
			kinds: []string{"terminated"},
		},
		"cut short while open": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "flaky")
				p.session("s1", "flaky", record.SessionOpen, "", true)
				p.term(a)
				p.dead(a)
				return p.done()
			},
		},
		"another session's step fails meanwhile": {
			show: func(p *play) *record.Run {
				p.open("s2", "flaky")
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				st := p.begin(record.Step{Op: "call", Session: "s2", Label: "flaky", Expect: "any"})
				p.term(a)
				p.dead(a)
				p.end(st, "timed out")
				return p.done()
			},
		},
		"its own step had failed before": {
			show: func(p *play) *record.Run {
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky", Expect: "any"}), "no")
				p.term(a)
				p.dead(a)
				p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky", Expect: "any"}), "no")
				return p.done()
			},
		},
		"a session called open on nothing": {
			show: func(p *play) *record.Run {
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				p.term(a)
				p.dead(a)
				p.session("s1", "flaky", record.SessionOpen, "", false)
				p.open("s1", "flaky")
				return p.done()
			},
			kinds: []string{"terminated"},
		},
		"harmed twice, and failing in between": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "flaky")
				p.term(a)
				p.dead(a)
				p.call(a, "s1", "flaky", "transport closed")
				b := p.open("s1", "flaky")
				p.term(b)
				p.dead(b)
				return p.done()
			},
			kinds: []string{"terminated"},
		},
		"the host dies in the course of a checkpoint": {
			show: func(p *play) *record.Run {
				p.latecomers()
				a := p.open("s1", "flaky")
				cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 1)}}
				p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
				p.wait(s)
				p.bye(a)
				p.leave()
				p.look(record.CensusSettled, "after")
				p.wait(s)
				p.add(record.Event{Kind: record.HostExited, Exit: &record.Exit{Code: 1}})
				p.look(record.CensusConfirm, "after")
				p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
				p.quiet("host gone")
				return p.over(record.End{Reason: "done"})
			},
			codes: []string{codeHostExited},
		},
		"the newest of a label is missing": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "wide")
				p.close("s1", "wide", func() { p.bye(a) })
				p.restless("after", nil, want("wide", "", 1))
				return p.done()
			},
			kinds: []string{"missing"},
		},
		"the ledger has lost the newest": {
			show: func(p *play) *record.Run {
				a := p.open("s1", "wide")
				p.close("s1", "wide", func() {
					p.eof(a)
					p.add(record.Event{Kind: record.Lost, Server: a, Text: "cut"})
					p.dead(a)
				})
				p.restless("after", nil, want("wide", "", 1))
				return p.done()
			},
			codes: []string{codeLost, codeNotQuiet},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := bothWays(t, c.show)
			assert.ElementsMatch(t, c.kinds, kindsIn(v), account(v))
			assert.ElementsMatch(t, c.codes, codesIn(v), account(v))
		})
	}
}

func TestOnlyWhatHappenedThenIsToldOfTheHarm(t *testing.T) {
	t.Parallel()
	p := newPlay()
	mine, _ := p.open("s1", "flaky"), p.open("s2", "flaky")
	p.close("s3", "flaky", func() {})
	c := p.open("s3", "flaky")
	p.close("s3", "flaky", func() { p.bye(c) })
	p.wait(s)
	st := p.begin(record.Step{Op: "call", Session: "s2", Label: "flaky", Expect: "any"})
	p.term(mine)
	p.dead(mine)
	p.end(st, "timed out")
	p.wait(s)
	p.bye(p.open("s4", "flaky"))
	p.open("s4", "flaky")
	f := Judge(p.done()).Findings
	require.NotEmpty(t, f)
	why := f[len(f)-1].Why
	assert.Contains(t, why, "flaky#1 (pid 101)")
	assert.NotContains(t, why, "Within", "nobody else was ended at that moment")
	assert.NotContains(t, why, "At that moment", "a call is no clean-up")
	assert.Contains(t, f[len(f)-1].Values[0], "before its first call")
}

func TestStepsAreNamed(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "call of echo of session s1", stepName(&step{Step: record.Step{Op: "call", Detail: "echo", Session: "s1", Label: "x"}}))
	assert.Equal(t, "open of session s1", stepName(&step{Step: record.Step{Op: "open", Detail: "d", Session: "s1"}}))
	assert.Equal(t, "call of session s1", stepName(&step{Step: record.Step{Op: "call", Session: "s1"}}))
	assert.Equal(t, "reload of x", stepName(&step{Step: record.Step{Op: "reload", Label: "x"}}))
	assert.Equal(t, "stop", stepName(&step{Step: record.Step{Op: "stop"}}))
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
		codes []string
	}{
		"as it was":      {record.PlanFault{Label: "flaky", On: "call", Do: "hang", Fires: 1}, nil},
		"another moment": {record.PlanFault{Label: "flaky", On: "order", Do: "hang", Fires: 1}, []string{codeNotFired}},
		"another deed":   {record.PlanFault{Label: "flaky", On: "call", Do: "exit", Fires: 1}, []string{codeNotFired}},
		"another label":  {record.PlanFault{Label: "steady", On: "call", Do: "hang", Fires: 1}, []string{codeNotFired}},
		"each first":     {record.PlanFault{Label: "flaky", On: "call", Do: "hang", Every: 1, Fires: 1}, nil},
		"each second":    {record.PlanFault{Label: "flaky", On: "call", Do: "hang", Every: 2, Fires: 1}, []string{codeNotFired}},
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
	text := map[string]string{}
	for _, c := range doubtCases {
		for _, d := range Judge(c.show(newPlay())).Doubts {
			text[d.Code] = d.Text
		}
	}
	assert.Equal(t, "the host launched flaky 1 time, the scenario needs 2", text[codeNotLaunched])
	assert.Equal(t, "the fault reject on initialize of flaky (launch 2) fired 0 times, the scenario needs 1", text[codeNotFired])
	assert.Equal(t, `call of echo of session s1 failed, and no law says why: "timed out"`, text[codeFailed])
	assert.Equal(t, "the run was stopped by SIGINT", text[codeInterrupted])
	assert.Equal(t, `1 step "reload" was skipped: "the driver does not offer it"`, text[codeSkipped])
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
			p.term(mine)
			p.dead(mine)
		}
		assert.Equal(t, []string{codeFailed}, codesIn(Judge(p.done())))
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
	assert.Equal(t, []string{codeNoLook}, codesIn(v))
	assert.Contains(t, v.Doubts[0].Text, `"other"`)
	assert.Contains(t, v.Findings[0].Values[0], "still running 3s")
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
	assert.Equal(t, []string{codeNoLook}, codesIn(v))

	p = newPlay()
	p.run.Header.Plan.Checkpoints = []string{"after"}
	p.open("s1", "flaky")
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	done := cp
	done.Quiet = true
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &done})
	v = Judge(p.done())
	assert.Equal(t, []string{codeNoLook}, codesIn(v), "it has no census")
}

func TestDisagreementsThatAreNone(t *testing.T) {
	t.Parallel()
	p := newPlay() // it was dying when the census was taken
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.eof(a) })
	delete(p.procs, p.ids[a])
	p.restless("after", func() { p.dead(a) }, want("flaky", "s1", 0))
	assert.Equal(t, []string{codeNotQuiet}, codesIn(Judge(p.done())), "but it was not in time for certain")

	p = newPlay() // the second look saw it
	a = p.open("s1", "flaky")
	row := p.procs[p.ids[a]]
	delete(p.procs, p.ids[a])
	p.restless("after", func() { p.procs[p.ids[a]] = row }, want("flaky", "s1", 1))
	assert.Equal(t, []string{codeNotQuiet}, codesIn(Judge(p.done())))

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
	assert.Equal(t, []string{codeDisagree}, codesIn(Judge(p.done())), "and it is said once")
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
	for different, want := range map[int]string{0: "The other 3 look the same.", 1: "2 of the other 3 look the same.", 3: "The other 3 differ, each with its evidence."} {
		p := newPlay()
		for i := range 4 {
			a := p.open("s1", "flaky")
			p.examined(a, holder("host", hostPID, 30+i))
			if i > 0 && i <= different {
				p.term(a)
			}
			p.fault(a, "order", "hang", true)
		}
		p.open("s1", "flaky")
		// What was signalled is blamed on the fault that follows, not on the host.
		p.run.Header.Limits.Severity = map[string]record.Severity{"L3": record.SeverityOff}
		p.restless("after", nil, record.Want{Label: "flaky", Session: "s1", Live: 1})
		f := only(t, Judge(p.done()), "superseded")
		assert.Contains(t, f.Why, want)
	}
}
