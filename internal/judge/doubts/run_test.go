package doubts

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// texts are what was doubted, in words.
func texts(found []record.Doubt) (all []string) {
	for _, d := range found {
		all = append(all, d.Text)
	}
	return all
}

// muddled is a run up to the end of its host, with a reason for most doubts.
func muddled() (*play, Told) {
	p := newPlay()
	p.run.Header.Limits.Controls = true
	p.run.Header.Plan = record.Plan{
		Labels: []record.PlanLabel{{Label: "flaky", Launches: 9}},
		Faults: []record.PlanFault{{Label: "flaky", On: record.OnOrder, Do: "hang", Fires: 1}},
		Laws:   []string{"L2"},
	}
	p.open("s1")
	p.step(record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "timed out"})
	p.t += 50 * s
	p.launch("s1") // nobody has asked for it
	twin := &record.Process{Identity: record.Identity{PID: 78, Start: 1}}
	p.add(record.Event{Kind: record.BystanderSeen, Server: "flaky", Text: record.StandsAsTwin, Process: twin, Exit: &record.Exit{Code: 4}})
	p.add(record.Event{Kind: record.Lost, Server: "flaky#2", Text: "cut off"})
	for _, name := range []string{"flaky#1", "flaky#2"} {
		p.add(record.Event{Kind: record.Died, Server: name})
	}
	p.t += 10 * s
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtLedgerStranger, Text: "a stranger"}})
	return p, Told{
		Connections: 1, Daemons: []record.Identity{{PID: 79, Start: 1}},
		Starved: []*breach.Breach{{Law: "L8", Value: "the stop took 9 s", Took: breach.Took{From: second, To: 2 * second}}}, Unjudged: []breach.Unjudged{{Law: "L2", Reason: "why"}},
	}
}

// TestWhatIsDoubtedOfARun: a run that was cut short, or whose host ended by itself, is not blamed for what it could not show any more.
func TestWhatIsDoubtedOfARun(t *testing.T) {
	t.Parallel()
	done, stopped := record.End{Reason: record.EndDone}, record.End{Reason: record.EndInterrupted}
	servers := []record.DoubtCode{
		record.DoubtNotLaunched, record.DoubtControlMissing, record.DoubtConnections, record.DoubtUnasked, record.DoubtDaemon, record.DoubtTwinEnded,
	}
	for name, c := range map[string]struct {
		asked bool
		end   record.End
		found [][]record.DoubtCode
	}{
		"to its end": {true, done, [][]record.DoubtCode{
			servers,
			{record.DoubtNotFired, record.DoubtStepFailed, record.DoubtNotJudged, record.DoubtStarved},
			{record.DoubtLedgerLost, record.DoubtAfterEnd, record.DoubtNotQuiet, record.DoubtLedgerStranger},
		}},
		"the host exited": {false, done, [][]record.DoubtCode{
			{record.DoubtHostExited}, servers, {record.DoubtLedgerLost, record.DoubtAfterEnd, record.DoubtLedgerStranger},
		}},
		"cut short":                      {true, stopped, [][]record.DoubtCode{{record.DoubtInterrupted, record.DoubtLedgerLost, record.DoubtLedgerStranger}}},
		"cut short, and the host exited": {false, stopped, [][]record.DoubtCode{{record.DoubtInterrupted, record.DoubtLedgerLost, record.DoubtLedgerStranger}}},
	} {
		p, told := muddled()
		if c.asked {
			p.add(record.Event{Kind: record.StepBegun, Step: &record.Step{N: 9, Op: record.OpStop}})
		}
		p.exit(record.Exit{Asked: c.asked})
		p.restless()
		var want []record.DoubtCode
		for _, some := range c.found {
			want = append(want, some...)
		}
		assert.Equal(t, want, codes(p.over(c.end, told)), name)
	}
}

// TestWhereConnectionsAreDeclared: a driver has no host file.
func TestWhereConnectionsAreDeclared(t *testing.T) {
	t.Parallel()
	for kind, where := range map[record.HostKind]string{record.KindDriver: "The profile in its hello can", record.KindCommand: "Its host file can"} {
		p := newPlay()
		p.run.Header.Host.Kind = kind
		p.open("s1")
		p.exit(record.Exit{Asked: true})
		all := p.over(record.End{Reason: record.EndDone}, Told{Connections: 1})
		i := slices.IndexFunc(all, func(d record.Doubt) bool { return d.Code == record.DoubtConnections })
		require.GreaterOrEqual(t, i, 0)
		assert.Contains(t, all[i].Text, where)
	}
}

// TestNothingIsDoubtedOfAGoodRun: it did what its plan says.
func TestNothingIsDoubtedOfAGoodRun(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1")
	p.step(record.Step{Op: record.OpCheckpoint, OK: true})
	p.exit(record.Exit{Asked: true})
	assert.Empty(t, p.over(record.End{Reason: record.EndDone}, Told{}))
}

// TestNoServerReachedTheLedger: then what the bench wrote of it is all there is to say.
func TestNoServerReachedTheLedger(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtLedgerNoAccess, Text: "another user"}})
	p.exit(record.Exit{})
	assert.Equal(t, []record.DoubtCode{record.DoubtLedgerNoAccess}, codes(p.over(record.End{Reason: record.EndDone}, Told{})))
}

// TestWhatIsHarmedByThen is harmed from then on, and no other session is.
func TestWhatIsHarmedByThen(t *testing.T) {
	t.Parallel()
	key := facts.SessionKey{Label: "flaky", Name: "s1"}
	told := Told{Harmed: map[facts.SessionKey]int64{key: 2}}
	assert.False(t, told.HarmedBy(key, 1))
	assert.True(t, told.HarmedBy(key, 2))
	assert.False(t, told.HarmedBy(facts.SessionKey{Label: "flaky", Name: "s2"}, 2))
}

// TestHowARunEnded is told of a file without an end, and of one with an event that can't be.
func TestHowARunEnded(t *testing.T) {
	t.Parallel()
	const malformed = "an event of the file contradicts earlier ones: 1 event from there on is not judged"
	failed := func(stage record.EndStage) *record.End {
		return &record.End{Reason: record.EndFailed, Stage: stage, Error: "no"}
	}
	for name, c := range map[string]struct {
		end       *record.End
		malformed bool
		cut       bool
		says      []string
	}{
		"no end":                 {nil, false, true, []string{"the file is not complete: it has no end event"}},
		"malformed":              {nil, true, true, []string{malformed}},
		"the host":               {failed(record.StageHost), false, true, []string{`the host could not be tested: "no"`}},
		"the keeper":             {failed(record.StageKeeper), false, true, []string{`the run was cut short: "no"`}},
		"stopped by its user":    {&record.End{Reason: record.EndInterrupted}, false, true, []string{"the run was stopped by its user"}},
		"stopped by a signal":    {&record.End{Reason: record.EndInterrupted, Signal: "SIGINT"}, false, true, []string{"the run was stopped by SIGINT"}},
		"done":                   {&record.End{Reason: record.EndDone}, false, false, nil},
		"a failure of the bench": {failed(""), false, true, []string{`leakbench failed: "no"`}},
	} {
		p := newPlay()
		if c.malformed {
			p.add(record.Event{Kind: record.Born, Server: "flaky#9"})
		}
		if c.end != nil {
			p.add(record.Event{Kind: record.Ended, End: c.end})
		}
		f := p.search()
		assert.Equal(t, c.cut, f.doubtEnd(), name)
		assert.Equal(t, c.says, texts(f.found), name)
	}
}

// TestAHostThatExited is told of by its life, where it had several.
func TestAHostThatExited(t *testing.T) {
	t.Parallel()
	const unseen = ", so the rest of the scenario was not seen"
	p := newPlay()
	p.exit(record.Exit{Code: 3})
	f := p.search()
	assert.True(t, f.doubtHost())
	require.Len(t, f.found, 1)
	assert.Regexp(t, `^the host exited with status 3 at \S+ \S+ without being asked to`+unseen+"$", f.found[0].Text)

	p.start()
	f = p.search()
	assert.True(t, f.doubtHost())
	require.Len(t, f.found, 1, "the second life goes on")
	assert.Regexp(t, "^life 1 of the host exited", f.found[0].Text)

	p = newPlay()
	p.exit(record.Exit{Asked: true})
	assert.False(t, p.search().doubtHost())
}

// TestASavedLaunchIsNotMissed: a host that keeps servers need not launch one for a session that it opens again. Nor is a session missed
// whose open did not come to an end.
func TestASavedLaunchIsNotMissed(t *testing.T) {
	t.Parallel()
	for resident, says := range map[int][]string{0: {"the host launched flaky 1 time, the scenario needs 2"}, 1: nil} {
		p := newPlay()
		p.run.Header.Host.Profile.Resident = resident
		p.run.Header.Plan.Labels = []record.PlanLabel{{Label: "flaky", Launches: 2}}
		p.open("s1")
		for _, c := range []record.Session{{State: record.SessionEnded, Why: record.WhyClose}, {State: record.SessionOpening}} {
			c.Name, c.Label = "s1", "flaky"
			p.add(record.Event{Kind: record.SessionChanged, Session: &c})
		}
		p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s2", Label: "flaky", State: record.SessionOpening}})
		f := p.search()
		f.doubtLaunches()
		assert.Equal(t, says, texts(f.found), resident)
	}
}

// TestAFaultThatFiredAsOftenAsItHadTo is no doubt.
func TestAFaultThatFiredAsOftenAsItHadTo(t *testing.T) {
	t.Parallel()
	for fires, says := range map[int][]string{1: nil, 2: {"the fault hang of flaky fired 1 time, the scenario needs 2"}} {
		f := opened("s1")
		f.servers[0].Faults = []history.FaultMark{hangs}
		f.Header.Plan.Faults = []record.PlanFault{{Label: "flaky", On: record.OnOrder, Do: "hang", Fires: fires}}
		f.doubtPlan()
		assert.Equal(t, says, texts(f.found), fires)
	}
}

// TestCheckpointsThatWereNotReached: one needs a census and an end, as often as the plan has its name.
func TestCheckpointsThatWereNotReached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(cp *facts.Checkpoint)
		plan   []string
		doubts int
	}{
		"reached":        {func(*facts.Checkpoint) {}, []string{"after"}, 0},
		"of another":     {func(*facts.Checkpoint) {}, []string{"before"}, 1},
		"once of twice":  {func(*facts.Checkpoint) {}, []string{"after", "after"}, 1},
		"without an end": {func(cp *facts.Checkpoint) { cp.Ended = never }, []string{"after"}, 1},
		"ended at once":  {func(cp *facts.Checkpoint) { cp.Ended = 0 }, []string{"after"}, 0},
		"without a look": {func(cp *facts.Checkpoint) { cp.Settled = nil }, []string{"after"}, 1},
	} {
		f, cp := opened("s1"), looked()
		c.change(cp)
		f.Checkpoints, f.Header.Plan.Checkpoints = []*facts.Checkpoint{cp}, c.plan
		f.doubtPlan()
		require.Len(t, f.found, c.doubts, name)
		for _, text := range texts(f.found) {
			assert.Equal(t, fmt.Sprintf("checkpoint %q was not completed", c.plan[0]), text, name)
		}
	}
}

// TestCheckpointsThatDidNotComeToRest are told where nothing else says why, and those that did only because the wait was stretched.
func TestCheckpointsThatDidNotComeToRest(t *testing.T) {
	t.Parallel()
	const restless = `checkpoint "after" was not as expected within 1 s, and no law says why`
	stretched := func(cp *facts.Checkpoint) {
		cp.Waited, cp.Stretched, cp.Starved = record.Duration(3*s), record.Duration(2*s), 0.8
	}
	for name, c := range map[string]struct {
		change func(f *search, cp *facts.Checkpoint)
		says   []string
	}{
		"restless":            {func(*search, *facts.Checkpoint) {}, []string{restless}},
		"a law says why":      {func(f *search, cp *facts.Checkpoint) { f.Explained = map[*facts.Checkpoint]bool{cp: true} }, nil},
		"the witnesses do":    {func(f *search, cp *facts.Checkpoint) { f.split[cp] = true }, nil},
		"without an end":      {func(_ *search, cp *facts.Checkpoint) { cp.Ended = never }, nil},
		"quiet":               {func(_ *search, cp *facts.Checkpoint) { cp.Quiet = true }, nil},
		"stretched, restless": {func(_ *search, cp *facts.Checkpoint) { stretched(cp) }, []string{restless}},
		"stretched, quiet": {func(_ *search, cp *facts.Checkpoint) { stretched(cp); cp.Quiet = true }, []string{
			`checkpoint "after" was as expected only after 3 s, with 1 s allowed. The wait was stretched because the machine was starved: leakbench waited for a processor 80 % of the time in which it wanted one`,
		}},
	} {
		f, cp := opened("s1"), looked()
		c.change(f, cp)
		f.Checkpoints = []*facts.Checkpoint{cp}
		f.doubtRest()
		assert.Equal(t, c.says, texts(f.found), name)
	}
}
