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

// TestTheOneOfTwoThatAHostDidNotKnowOf: two servers were launched for one
// connection, and the close ended the older. That the newer one is left is not
// the close's doing.
func TestTheOneOfTwoThatAHostDidNotKnowOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		between func(p *play, a string)
		want    string
	}{
		"both there when it was closed": {func(*play, string) {}, "duplicate"},
		"the older had gone before":     {func(p *play, a string) { p.bye(a) }, "abandoned"},
		"the older had broken before":   {func(p *play, a string) { p.fault(a, "order", "hang", true) }, "abandoned"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := bothWays(t, func(p *play) *record.Run {
				p.session("s1", "flaky", record.SessionOpening, "", false)
				a := p.launch("flaky", "s1")
				p.greet(a)
				c.between(p, a)
				p.greet(p.launch("flaky", "s1"))
				p.session("s1", "flaky", record.SessionOpen, "", false)
				p.close("s1", "flaky", func() {
					if name != "the older had gone before" {
						p.bye(a)
					}
				})
				p.restless("after", nil, want("flaky", "s1", 0))
				return p.done()
			})
			assert.Equal(t, []string{c.want}, kindsIn(v), account(v))
		})
	}
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
	assert.Equal(t, `3 servers of flaky alive at checkpoint "after", within 1 s`, f.Expected)
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
	assert.Contains(t, f.Values[0], "still running 3 s after", "the sweep's end of it is no merit of the host")
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
	assert.Contains(t, v.Findings[0].Values[0], "gone between 1 s and 3 s after")
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
