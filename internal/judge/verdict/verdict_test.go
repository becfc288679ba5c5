package verdict

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

func TestACleanRun(t *testing.T) {
	t.Parallel()
	v := Judge(simple(newPlay()))
	assert.Equal(t, Clean, v.Outcome, account(v))
	assert.Equal(t, []int{1, 1, 0}, []int{v.Spawned, v.PeakLive, v.Left})
	assert.NotNil(t, v.Findings, "a reader of the JSON gets a list")
	assert.NotNil(t, v.Doubts)
	require.Len(t, v.Laws, len(law.All()))
	for i, l := range law.All() {
		assert.Equal(t, l.ID, v.Laws[i].Law)
		want := map[string]LawStatus{"L1": LawKept, "L2": LawKept, "L3": LawKept, "L4": LawKept, "L8": LawKept, "L9": LawKept}[l.ID]
		if want == "" {
			want = LawNotJudged
			assert.NotEmpty(t, v.Laws[i].Reason, l.ID)
		}
		assert.Equal(t, want, v.Laws[i].Status, l.ID)
	}
}

// storm reconnects n times after each of two faults; offset moves pids and
// times.
func storm(p *play, n int) *record.Run {
	for range n {
		a := p.open("storm", "flaky")
		p.fault(a, "order", "close-stdout", true)
		p.examined(a, holder("host", hostPID, p.pid))
		b := p.open("storm", "flaky")
		p.fault(b, "order", "exit", true)
		p.zombie(b)
	}
	p.open("storm", "flaky")
	p.restless("after-storm", nil, want("flaky", "storm", 1))
	return p.done()
}

func TestFindingsAreGroupedByCause(t *testing.T) {
	t.Parallel()
	v := Judge(storm(newPlay(), 10))
	assert.Equal(t, []string{"superseded", "zombie"}, kindsIn(v), account(v))
	f := v.Findings[0]
	assert.Equal(t, 10, f.Count)
	assert.Len(t, f.Servers, 10)
	assert.Len(t, f.Values, 10)
	assert.Len(t, f.Evidence, 10)
	assert.Equal(t, "after-storm", f.Checkpoint)
	assert.Equal(t, "10 superseded servers of flaky are still running (after close-stdout)", f.Title)
	assert.Equal(t, `1 server of flaky alive at checkpoint "after-storm", within 1 s`, f.Expected)
	assert.Equal(t, "11 alive, 10 of them superseded", f.Found)
	assert.Contains(t, f.Why, "held by the host (pid 20, fd 101): the host never closed it")
	assert.Contains(t, f.Why, "The other 9 look the same.")
	assert.Equal(t, 10, v.Findings[1].Count)
}

func TestFingerprintsAreTheSameInEveryRun(t *testing.T) {
	t.Parallel()
	one := Judge(storm(newPlay(), 3))
	other := newPlay()
	other.pid += 5000
	other.wait(7 * s)
	two := Judge(storm(other, 8))
	require.Len(t, two.Findings, len(one.Findings))
	seen := map[string]bool{}
	for i := range one.Findings {
		assert.Equal(t, one.Findings[i].Fingerprint, two.Findings[i].Fingerprint)
		seen[one.Findings[i].Fingerprint] = true
	}
	assert.Len(t, seen, 2)
}

func TestTheSameRunGivesTheSameVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range allCases() {
		run := c.show(newPlay())
		want, err := json.Marshal(Judge(run))
		require.NoError(t, err)
		for range 5 {
			got, err := json.Marshal(Judge(run))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), c.kind)
		}
	}
}

// Counting alone is blind: two are wanted and two are alive, and still one is
// a leak and one was killed.
func TestAnOlderServerDoesNotMakeUpForANewerOne(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	b := p.open("s1", "flaky")
	p.open("s2", "flaky")
	p.dead(b)
	p.restless("after", nil, want("flaky", "s1", 1), want("flaky", "s2", 1))
	v := Judge(p.done())
	assert.Equal(t, []string{"superseded", "killed"}, kindsIn(v), account(v))
	assert.Equal(t, []string{"flaky#1"}, v.Findings[0].Servers)
	assert.Equal(t, []string{"flaky#2"}, v.Findings[1].Servers)
}

func TestASurvivorIsFoundOnce(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	p.restless("first", nil, want("flaky", "s1", 0))
	b := p.open("s2", "flaky")
	p.close("s2", "flaky", func() {})
	p.restless("second", nil, want("flaky", "s1", 0), want("flaky", "s2", 0))
	p.stop("stop", func() { p.bye(a) })
	p.restless("host gone", nil)
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"abandoned", "orphan"}, kindsIn(v), account(v))
	assert.Equal(t, []string{a, b}, v.Findings[0].Servers)
	assert.Equal(t, "first", v.Findings[0].Checkpoint)
	assert.Len(t, v.Findings[0].Values, 2)
	assert.Equal(t, "1 alive, 1 of them abandoned", v.Findings[0].Found, "that is how it was at the first checkpoint")
	assert.Equal(t, []string{b}, v.Findings[1].Servers, "only what outlived the host counts there")
	assert.Equal(t, 1, v.Left)
	assert.Empty(t, v.Doubts)
}

// Between the look that found the state right and the census in the file, a
// server may be born. It makes another one the second newest for a moment.
func TestABirthInTheLastMomentOfACheckpoint(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 1)}}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.wait(150 * ms)
	b := p.launch("flaky", "s1")
	p.greet(b)
	p.look(record.CensusSettled, "after")
	cp.Quiet = true
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
	p.bye(a)
	v := Judge(p.done())
	assert.Equal(t, Clean, v.Outcome, account(v))
}

func TestSeverities(t *testing.T) {
	t.Parallel()
	for severity, want := range map[record.Severity]struct {
		outcome Outcome
		status  LawStatus
		n       int
	}{
		"":                     {Leak, LawBroken, 1},
		"nonsense":             {Leak, LawBroken, 1},
		record.SeverityError:   {Leak, LawBroken, 1},
		record.SeverityWarning: {Clean, LawBroken, 1},
		record.SeverityOff:     {Clean, LawNotJudged, 0},
	} {
		p := newPlay()
		p.run.Header.Limits.Severity = map[string]record.Severity{"L1": severity}
		v := Judge(flatCases[0].show(p))
		assert.Equal(t, want.outcome, v.Outcome, severity)
		assert.Equal(t, want.status, resultOf(v, "L1").Status, severity)
		assert.Len(t, v.Findings, want.n, severity)
	}
}

func TestErrorsComeBeforeWarnings(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Limits.Severity = map[string]record.Severity{"L1": record.SeverityWarning}
	v := Judge(storm(p, 2))
	assert.Equal(t, []string{"zombie", "superseded"}, kindsIn(v))
	p = newPlay()
	p.run.Header.Limits.SpawnsPerSession = 1
	relaunch(p, 2, func() {})
	st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
	p.end(st, "no")
	v = Judge(p.done())
	assert.Equal(t, []string{"respawn", "no-recovery"}, kindsIn(v), "L7 before L10")
}

func TestWhatIsLeft(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.stop("kill", nil)
	p.restless("host gone", func() { p.bye(a) })
	p.helperAt(900, record.Process{PPID: keeperPID, Comm: "sh"})
	p.add(record.Event{Kind: record.Swept, Census: p.census()})
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, 1, v.Left, "the server was late, the helper had to be swept up")

	p = newPlay()
	p.open("s1", "flaky")
	p.helperAt(hostPID, record.Process{PPID: keeperPID, Comm: "host"})
	p.add(record.Event{Kind: record.Swept, Census: p.census()})
	v = Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"}))
	assert.Equal(t, 0, v.Left, "the bench ended the host itself")
}

func TestARunThatTheUserStopsBlamesNobodyForTheSweep(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	swept := p.census()
	p.wait(s)
	p.dead(a)
	p.add(record.Event{Kind: record.Swept, Census: swept})
	v := Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"}))
	assert.Empty(t, v.Findings)
	assert.Equal(t, []record.DoubtCode{record.DoubtInterrupted}, codesIn(v))

	p = newPlay()
	b := p.open("s1", "flaky")
	p.dead(b)
	v = Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"}))
	assert.Equal(t, []string{"killed"}, kindsIn(v), "what the sweep did not find had died before")

	p = newPlay()
	b = p.open("s1", "flaky")
	p.term(b) // deaf to it, and swept up after the host's end
	p.stop("stop", nil)
	p.restless("host gone", nil)
	p.add(record.Event{Kind: record.Swept, Census: p.census()})
	v = Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"not-escalated", "terminated"}, kindsIn(v), "in a run that was played to its end the sweep excuses nothing")
}

// TestTheLastSweepIsNoHarmByTheHost: in a test the host is still there when the bench sweeps, so that a server that it has left dies
// unasked at the bench's hands.
func TestTheLastSweepIsNoHarmByTheHost(t *testing.T) {
	t.Parallel()
	for name, swept := range map[string]bool{"swept": true, "killed before the sweep": false} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample, Load: &record.Load{}}})
		p.close("s1", "flaky", func() {})
		p.restless("closed", nil, want("flaky", "s1", 0))
		left := p.census()
		p.dead(a)
		if swept {
			p.add(record.Event{Kind: record.Swept, Census: left})
		}
		v := Judge(p.over(record.End{Reason: "done"}))
		var l9 []string
		for _, d := range v.Doubts {
			if d.Code == record.DoubtStarved {
				l9 = append(l9, d.Text)
			}
		}
		assert.Equal(t, swept, len(l9) == 0, "%s: %v", name, l9)
	}
}

func TestTheOddestRuns(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]*record.Run{
		"nil": nil, "empty": {}, "ended": {Events: []record.Event{{Kind: record.Ended, End: &record.End{Reason: "done"}}}},
	} {
		v := Judge(run)
		assert.Equal(t, Inconclusive, v.Outcome, name)
		assert.Len(t, v.Laws, len(law.All()), name)
	}
	var bare []record.Event
	for _, k := range allKindsOfEvents() {
		bare = append(bare, record.Event{Kind: k}, record.Event{Kind: k, Server: "flaky#1"})
	}
	assert.Equal(t, Inconclusive, Judge(&record.Run{Events: bare}).Outcome)
}

func allKindsOfEvents() []record.Kind {
	return []record.Kind{
		record.HostStarted, record.HostReady, record.HostExited, record.StepBegun, record.StepEnded, record.StepSkipped,
		record.SessionChanged, record.Born, record.Ready, record.RPC, record.Faulted, record.SawEOF, record.SawSignal, record.Bye,
		record.Died, record.Lost, record.Reaped, record.CheckpointBegun, record.CheckpointEnded, record.CensusTaken,
		record.EvidenceTaken, record.Swept, record.Doubted, record.Ended, record.Controlled, record.BystanderSeen,
	}
}
