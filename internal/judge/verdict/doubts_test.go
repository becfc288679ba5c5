package verdict

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// simple is a run without anything wrong.
func simple(p *play) *record.Run {
	a := p.open("s1", "flaky")
	p.call(a, "s1", "flaky", "")
	p.quiet("after", want("flaky", "s1", 1))
	return p.done()
}

// withHelper is a run without a subreaper, whose server has started a helper.
func withHelper(p *play, os string) *record.Run {
	p.run.Header.System.OS, p.run.Header.Witness.Subreaper = os, false
	p.run.Header.Plan.Faults = []record.PlanFault{{Label: "flaky", On: "call", Do: "helper", Fires: 1}}
	a := p.open("s1", "flaky")
	p.fault(a, "call", "helper", false)
	p.call(a, "s1", "flaky", "")
	p.quiet("after", want("flaky", "s1", 1))
	return p.done()
}

func planned(p *play) {
	p.run.Header.Plan = record.Plan{
		Labels:      []record.PlanLabel{{Label: "flaky", Launches: 2}},
		Faults:      []record.PlanFault{{Label: "flaky", On: "initialize", Do: "reject", Launch: 2, Fires: 1}},
		Checkpoints: []string{"after", "host gone"},
	}
}

// launchedBeside has the host launch a probe beside the server of an open session, some time after it was asked for something.
func launchedBeside(p *play, after time.Duration) *record.Run {
	a := p.open("s1", "flaky")
	p.call(a, "s1", "flaky", "")
	p.wait(after)
	p.pid += int(after / (100 * ms)) // its start follows from it
	b := p.launch("flaky", "s1")
	p.greet(b)
	p.bye(b)
	p.quiet("after", want("flaky", "s1", 1))
	return p.done()
}

var doubtCases = []struct {
	code record.DoubtCode
	show func(p *play) *record.Run
	near func(p *play) *record.Run // raises no doubt at all
}{
	{
		code: record.DoubtConnections,
		show: func(p *play) *record.Run {
			p.run.Header.Host.Kind = record.KindCommand
			a, b := used(p), used(p)
			p.restless("up", nil, record.Want{Label: "flaky", Live: 1, AtMost: true})
			p.stop("term", func() { p.bye(a); p.bye(b) })
			return p.done()
		},
		near: func(p *play) *record.Run {
			p.run.Header.Host.Kind = record.KindCommand
			a, b := used(p), used(p)
			p.quiet("up", record.Want{Label: "flaky", Live: 1, AtMost: true, Together: 2})
			p.stop("term", func() { p.bye(a); p.bye(b) })
			return p.done()
		},
	},
	{
		code: record.DoubtUnasked,
		show: func(p *play) *record.Run { return launchedBeside(p, 2*s) },
		near: func(p *play) *record.Run { return launchedBeside(p, 100*ms) }, // it may be for the call's sake
	},
	{
		code: record.DoubtOrphans,
		show: func(p *play) *record.Run { return withHelper(p, "darwin") },
		near: func(p *play) *record.Run { return withHelper(p, "linux") }, // the host is the caller's process: its runs have a mark
	},
	{
		code: record.DoubtDaemon,
		show: func(p *play) *record.Run { return inBackground(p, 90) },
		near: func(p *play) *record.Run {
			p.run.Header.Host.Kind = record.KindCommand
			a := p.launch("flaky", "", 90)
			p.stop("term", func() { p.bye(a) })
			return p.done()
		},
	},
	{
		code: record.DoubtTruncated,
		show: func(p *play) *record.Run { r := simple(p); r.Truncated = "a torn last line"; return r },
		near: simple,
	},
	{
		code: record.DoubtMalformed,
		show: func(p *play) *record.Run { p.add(record.Event{Kind: record.Born, Server: "flaky#9"}); return simple(p) },
		near: func(p *play) *record.Run { p.add(record.Event{Kind: record.Reaped}); return simple(p) },
	},
	{
		code: record.DoubtInterrupted,
		show: func(p *play) *record.Run {
			planned(p)
			p.open("s1", "flaky")
			return p.over(record.End{Reason: "interrupted", Signal: "SIGINT"})
		},
		near: simple,
	},
	{
		code: record.DoubtHostFailed,
		show: func(p *play) *record.Run {
			planned(p)
			return p.over(record.End{Reason: "failed", Stage: "host", Error: "no hello within 30 s"})
		},
		near: simple,
	},
	{
		code: record.DoubtBenchFailed,
		show: func(p *play) *record.Run {
			p.open("s1", "flaky")
			return p.over(record.End{Reason: "failed", Stage: "bench", Error: "disk full"})
		},
		near: simple,
	},
	{
		code: record.DoubtProgramGone,
		show: func(p *play) *record.Run {
			p.open("s1", "flaky")
			return p.over(record.End{Reason: "failed", Stage: "program", Error: "deleted"})
		},
		near: simple,
	},
	{
		code: record.DoubtHostExited,
		show: func(p *play) *record.Run {
			planned(p)
			a := p.open("s1", "flaky")
			p.fault(p.open("s2", "flaky"), "initialize", "reject", true)
			p.bye(a) // felt before the exit was seen: no collateral
			p.dead("flaky#2")
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
			p.quiet("host gone")
			return p.over(record.End{Reason: "done"})
		},
		near: simple,
	},
	{
		code: record.DoubtNotLaunched,
		show: func(p *play) *record.Run {
			p.run.Header.Plan.Labels = []record.PlanLabel{{Label: "flaky", Launches: 2}}
			return simple(p)
		},
		near: func(p *play) *record.Run {
			p.run.Header.Plan.Labels = []record.PlanLabel{{Label: "flaky", Launches: 1}}
			return simple(p)
		},
	},
	{
		code: record.DoubtNotFired,
		show: func(p *play) *record.Run { // launch 1 did it, the plan is about launch 2
			planned(p)
			p.openFails("s1", "flaky", func() { a := p.launch("flaky", "s1"); p.fault(a, "initialize", "reject", true); p.dead(a) })
			return simple(p)
		},
		near: func(p *play) *record.Run {
			planned(p)
			p.open("s0", "flaky")
			p.openFails("s1", "flaky", func() { a := p.launch("flaky", "s1"); p.fault(a, "initialize", "reject", true); p.dead(a) })
			p.open("s1", "flaky")
			p.quiet("after", want("flaky", "s0", 1), want("flaky", "s1", 1))
			return p.done()
		},
	},
	{
		code: record.DoubtNoCheckpoint,
		show: func(p *play) *record.Run {
			p.run.Header.Plan.Checkpoints = []string{"after", "after", "host gone"}
			return simple(p)
		},
		near: func(p *play) *record.Run {
			p.run.Header.Plan.Checkpoints = []string{"after", "host gone"}
			return simple(p)
		},
	},
	{
		code: record.DoubtKeeperLost,
		show: func(p *play) *record.Run {
			p.open("s1", "flaky")
			return p.over(record.End{Reason: "failed", Stage: "keeper", Error: "it did not answer"})
		},
		near: simple,
	},
	{
		code: record.DoubtStarved,
		show: func(p *play) *record.Run { return loaded(lateBy(p, 1500*ms), 9, 0) },
		near: func(p *play) *record.Run { return loaded(lateBy(p, 500*ms), 9, 0) },
	},
	{
		code: record.DoubtNotJudged,
		show: func(p *play) *record.Run { about(p, "L10"); return simple(p) },
		near: func(p *play) *record.Run { about(p, "L2"); return simple(p) },
	},
	{
		code: record.DoubtNotPlayed,
		show: func(p *play) *record.Run { p.run.Header.Plan.Defining = 1; return simple(p) },
		near: simple,
	},
	{
		code: record.DoubtStretched,
		show: func(p *play) *record.Run { return stretched(p, record.Duration(ms)) },
		near: func(p *play) *record.Run { return stretched(p, 0) },
	},
	{
		code: record.DoubtAfterEnd,
		show: func(p *play) *record.Run { return reapedAt(p, 30*s) },
		near: func(p *play) *record.Run { return reapedAt(p, 0) }, // it ended before the last look
	},
	{
		code: record.DoubtNotQuiet,
		show: func(p *play) *record.Run {
			p.open("s1", "flaky")
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: simple,
	},
	{
		code: record.DoubtLedgerLost,
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.add(record.Event{Kind: record.Lost, Server: a, Text: "the bench cut the connection"})
			delete(p.procs, p.ids[a])
			return p.done()
		},
		near: func(p *play) *record.Run { // the end of the ledger is no loss
			a := p.open("s1", "flaky")
			p.stop("stop", func() { p.bye(a) })
			p.quiet("host gone")
			p.add(record.Event{Kind: record.Lost, Server: a, Text: string(record.LostAtEnd)})
			return p.over(record.End{Reason: "done"})
		},
	},
	{
		code: record.DoubtDisagree,
		show: func(p *play) *record.Run { // alive for the ledger, not there for the census
			a := p.open("s1", "flaky")
			delete(p.procs, p.ids[a])
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // born after the look whose census this is
			p.open("s1", "flaky")
			cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 1)}}
			p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
			p.wait(150 * ms)
			b := p.launch("flaky", "s2")
			row := p.procs[p.ids[b]]
			delete(p.procs, p.ids[b])
			p.look(record.CensusSettled, "after")
			cp.Quiet = true
			p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
			p.procs[p.ids[b]] = row
			return p.done()
		},
	},
	{
		code: record.DoubtStepSkipped,
		show: func(p *play) *record.Run { skip(p); return simple(p) },
		near: func(p *play) *record.Run {
			p.run.Header.Host.Kind = record.KindCommand
			st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
			st.Unasked = true // a command opens its session by itself
			p.add(record.Event{Kind: record.StepSkipped, Step: &st})
			a := p.launch("flaky", "")
			p.greet(a)
			p.quiet("after", record.Want{Label: "flaky", Live: 1, AtMost: true})
			return p.done()
		},
	},
	{
		code: record.DoubtTwinEnded,
		show: func(p *play) *record.Run { // not by a signal
			p.call(p.open("s1", "flaky"), "s1", "flaky", "")
			by := record.Process{Identity: record.Identity{PID: 22, Start: 2002}, PPID: keeperPID, State: "S"}
			p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Server: "flaky", Process: &by, Exit: &record.Exit{Code: 4}})
			return p.done()
		},
		near: func(p *play) *record.Run { return twinCases[0].near(p) },
	},
	{
		code: record.DoubtCallNotSeen,
		show: func(p *play) *record.Run { // the host answers for its server
			p.open("s1", "flaky")
			p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"}), "")
			return p.done()
		},
		near: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"})
			p.ask(a)
			p.end(st, "")
			p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "any"}), "timed out")
			return p.done()
		},
	},
	{
		code: record.DoubtCrossedCall,
		show: func(p *play) *record.Run { return crossed(p, 1) },
		near: func(p *play) *record.Run { return crossed(p, 0) },
	},
	{
		code: record.DoubtCallNotSeen,
		show: func(p *play) *record.Run { // a look that no server has seen
			p.call(p.open("s1", "flaky"), "s1", "flaky", "")
			p.launch("flaky", "look")
			p.end(p.begin(record.Step{Op: "job", Session: "look", Label: "flaky", Detail: record.DetailProbe}), "")
			return p.done()
		},
		near: func(p *play) *record.Run {
			a := p.launch("flaky", "look")
			st := p.begin(record.Step{Op: "job", Session: "look", Label: "flaky", Detail: record.DetailProbe})
			p.greet(a)
			p.eof(a)
			p.bye(a)
			p.dead(a)
			p.end(st, "")
			return p.done()
		},
	},
	{
		code: record.DoubtCallNotPlayed,
		show: func(p *play) *record.Run {
			p.open("s1", "flaky")
			st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky"})
			st.NotPlayed, st.Error = true, "pass call"
			p.add(record.Event{Kind: record.StepSkipped, Step: &st})
			p.quiet("after", want("flaky", "s1", 1))
			return p.done()
		},
		near: simple,
	},
	{
		code: record.DoubtStepFailed,
		show: func(p *play) *record.Run {
			a := p.open("s1", "flaky")
			p.call(a, "s1", "flaky", "timed out")
			return p.done()
		},
		near: func(p *play) *record.Run { // the scenario does not mind
			p.open("s1", "flaky")
			p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "any"}), "timed out")
			p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "fail"}), "timed out")
			return p.done()
		},
	},
	{
		code: record.DoubtNoCancel,
		show: func(p *play) *record.Run {
			p.open("s1", "flaky")
			st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "fail"})
			st.Uncut = true
			p.end(st, "not connected")
			return p.done()
		},
		near: func(p *play) *record.Run { // it was cancelled
			p.open("s1", "flaky")
			p.end(p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "fail"}), "cancelled")
			return p.done()
		},
	},
}

// stretched comes to rest at a checkpoint whose wait was stretched.
func stretched(p *play, by record.Duration) *record.Run {
	p.open("s1", "flaky")
	p.quiet("after", want("flaky", "s1", 1))
	ended := &p.run.Events[len(p.run.Events)-1]
	ended.Checkpoint.Stretched, ended.Checkpoint.Starved = by, 0.8
	return p.done()
}

func skip(p *play) {
	st := p.begin(record.Step{Op: "reload", Label: "flaky"})
	st.Error = "the driver does not offer it"
	p.add(record.Event{Kind: record.StepSkipped, Step: &st})
}

func TestEachDoubtIsToldFromItsNeighbour(t *testing.T) {
	t.Parallel()
	shown := map[record.DoubtCode]bool{}
	for _, c := range doubtCases {
		shown[c.code] = true
		t.Run(string(c.code), func(t *testing.T) {
			t.Parallel()
			v := Judge(c.show(newPlay()))
			assert.Equal(t, []record.DoubtCode{c.code}, codesIn(v), account(v))
			assert.Equal(t, Inconclusive, v.Outcome)
			assert.Empty(t, v.Findings)
			for _, d := range v.Doubts {
				assert.NotContains(t, d.Text, "%!")
			}
			near := Judge(c.near(newPlay()))
			assert.Equal(t, Clean, near.Outcome, account(near))
			assert.Empty(t, near.Doubts)
		})
	}
	for _, code := range doubtCodes(t) {
		assert.True(t, shown[code], "no run shows the doubt %s", code)
	}
}

// doubtCodes are those that the package raises, of controls left out: they
// have a test of their own.
func doubtCodes(t *testing.T) []record.DoubtCode {
	values := map[string]record.DoubtCode{}
	inspect(t, "../../record/doubt.go", func(n ast.Node) {
		if spec, ok := n.(*ast.ValueSpec); ok {
			code, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			values[spec.Names[0].Name] = record.DoubtCode(code)
		}
	})
	files, err := filepath.Glob("../doubts/*.go")
	require.NoError(t, err)
	raised := map[record.DoubtCode]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "controls.go" {
			continue
		}
		inspect(t, file, func(n ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if code, is := call.Args[0].(*ast.SelectorExpr); ok && is && method.Sel.Name == "doubt" {
				require.NotEmpty(t, values[code.Sel.Name], code.Sel.Name)
				raised[values[code.Sel.Name]] = true
			}
		})
	}
	require.Len(t, raised, 30)
	return slices.Collect(maps.Keys(raised))
}

func inspect(t *testing.T, file string, see func(ast.Node)) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		see(n)
		return true
	})
}

// Where no server could reach the ledger, that is all there is to say.
func TestServersThatCantReachTheLedger(t *testing.T) {
	t.Parallel()
	p := newPlay()
	planned(p)
	p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"}), "connection closed")
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtLedgerNoAccess, Text: "another user"}})
	v := Judge(p.done())
	assert.Equal(t, Inconclusive, v.Outcome)
	assert.Equal(t, []Doubt{{Code: record.DoubtLedgerNoAccess, Text: "another user"}}, v.Doubts)

	p = newPlay()
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtLedgerNoAccess, Text: "another user"}})
	p.end(p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"}), "connection closed")
	v = Judge(simple(p))
	assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed, record.DoubtLedgerNoAccess}, codesIn(v), "others could")
}

func TestWhatTheBenchDoubtsIsPassedOn(t *testing.T) {
	t.Parallel()
	const most = 5
	p := newPlay()
	for i := range 9 {
		d := &record.Doubt{Code: "ledger-stranger", Text: strconv.Itoa(i)}
		p.add(record.Event{Kind: record.Doubted, Doubt: d})
		p.add(record.Event{Kind: record.Doubted, Doubt: d})
	}
	v := Judge(simple(p))
	assert.Equal(t, Inconclusive, v.Outcome)
	require.Len(t, v.Doubts, most+1, "each text once, and not without end")
	assert.Equal(t, Doubt{Code: "ledger-stranger", Text: "0"}, v.Doubts[0])
	assert.Equal(t, Doubt{Code: "ledger-stranger", Text: "and 4 more of this kind"}, v.Doubts[most])
}

func TestDoubtsDoNotHideALeak(t *testing.T) {
	t.Parallel()
	p := newPlay()
	r := flatCases[0].show(p)
	r.Truncated = "a torn last line"
	v := Judge(r)
	assert.Equal(t, Leak, v.Outcome)
	assert.Equal(t, []record.DoubtCode{record.DoubtTruncated}, codesIn(v))
}

func TestACommandHostThatLaunchesNothing(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	v := Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtNotLaunched}, codesIn(v))
	assert.Equal(t, Inconclusive, v.Outcome)
}

func TestASessionWithoutAServer(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.session("s2", "flaky", record.SessionOpen, "", false)
	v := Judge(simple(p))
	assert.Equal(t, []record.DoubtCode{record.DoubtNotLaunched}, codesIn(v))
	assert.Contains(t, v.Doubts[0].Text, "session s2")
}

func TestAFakeServerThatNeverReported(t *testing.T) {
	t.Parallel()
	unborn := func(p *play) {
		p.open("s1", "flaky")
		p.helperAt(700, record.Process{PPID: hostPID, SID: hostPID, Comm: "leakbench", Args: []string{"/bin/leakbench", "fakeserver", "--run", runID}})
	}
	p := newPlay()
	unborn(p)
	p.restless("after", nil, want("flaky", "s1", 1))
	p.helperGone(700)
	v := Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtDisagree}, codesIn(v), account(v))

	p = newPlay()
	unborn(p)
	p.restless("after", func() { p.helperGone(700) }, want("flaky", "s1", 1))
	v = Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtNotQuiet}, codesIn(v), "it was killed before it could report")
}

func (p *play) helperGone(pid int) {
	delete(p.procs, record.Identity{PID: pid, Start: uint64(pid) * 100})
}

func TestALaunchThatTheCensusCanNotSee(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.Witness.Subreaper = false
	a := p.open("s1", "flaky")
	delete(p.procs, p.ids[a]) // orphaned: not below the keeper any more
	p.quiet("after", want("flaky", "s1", 1))
	p.stop("stop", func() { p.bye(a) })
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, Clean, v.Outcome, "the header says that this witness is weak\n%s", account(v))

	p = newPlay()
	p.run.Header.Witness.Subreaper = false
	a = p.open("s1", "flaky")
	delete(p.procs, p.ids[a])
	p.stop("stop", nil)
	p.restless("host gone", nil)
	v = Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, []string{"orphan"}, kindsIn(v), "the ledger's word must do")
	assert.Empty(t, v.Doubts)
}

func TestStepsThatALawAccountsFor(t *testing.T) {
	t.Parallel()
	p := newPlay()
	mine, other := twoSessions(p)
	p.close("job", "flaky", func() { p.bye(other); p.term(mine); p.dead(mine) })
	p.call(mine, "user", "steady", "transport closed")
	p.restless("after", nil, want("steady", "user", 1))
	v := Judge(p.done())
	assert.Equal(t, []string{"terminated"}, kindsIn(v))
	assert.Empty(t, v.Doubts, "that the call failed, and that no rest came, follows from the finding")

	p = newPlay()
	mine, other = twoSessions(p)
	p.call(mine, "user", "steady", "it failed before")
	p.wait(2 * s)
	p.close("job", "flaky", func() { p.bye(other); p.term(mine); p.dead(mine) })
	v = Judge(p.done())
	assert.Equal(t, []record.DoubtCode{record.DoubtStepFailed}, codesIn(v), "what came before the harm does not follow from it")
}

// reapedAt has something that no look has seen reaped so long after the last
// look at what the host has left; 0 is before that.
func reapedAt(p *play, after time.Duration) *record.Run {
	reap := func() {
		id := record.Identity{PID: 777, Start: 1}
		p.add(record.Event{Kind: record.Reaped, Process: &record.Process{Identity: id, Comm: "sh"}, Exit: &record.Exit{}})
	}
	a := p.open("s1", "flaky")
	p.call(a, "s1", "flaky", "")
	p.stop("stop", func() { p.bye(a) })
	if after == 0 {
		reap()
	}
	p.quiet("host gone")
	if after > 0 {
		p.wait(after)
		reap()
	}
	return p.over(record.End{Reason: "done"})
}

// TestBornAfterTheHost: what was born after the host's exit is told even where
// it was gone before the last look; what was swept, too, but a zombie.
func TestBornAfterTheHost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start uint64
		os    string
		swept record.State
		told  bool
	}{
		"born before":                 {2000, "linux", "", false},
		"born after":                  {9000, "linux", "", true},
		"starts can't be compared":    {9000, "darwin", "", false},
		"swept, and running":          {2000, "linux", "S", true},
		"swept, and dead for a while": {2000, "linux", "Z", false},
	} {
		p := newPlay()
		p.run.Header.System.OS = c.os
		a := p.open("s1", "flaky")
		p.call(a, "s1", "flaky", "")
		p.stop("stop", func() { p.bye(a) })
		row := record.Process{Identity: record.Identity{PID: 777, Start: c.start}, Comm: "sh", State: c.swept}
		if c.swept == "" {
			p.add(record.Event{Kind: record.Reaped, Process: &row, Exit: &record.Exit{}})
		}
		p.quiet("host gone")
		if c.swept != "" {
			p.add(record.Event{Kind: record.Swept, Census: &record.Census{Processes: []record.Process{row}}})
		}
		v := Judge(p.over(record.End{Reason: "done"}))
		assert.Equal(t, c.told, slices.Contains(codesIn(v), record.DoubtAfterEnd), "%s\n%s", name, account(v))
	}
}

// crossed has the call of one session answered by its own server, or by that of another one.
func crossed(p *play, by int) *record.Run {
	servers := []string{p.open("s1", "flaky"), p.open("s2", "flaky")}
	st := p.begin(record.Step{Op: "call", Session: "s1", Label: "flaky", Expect: "any"})
	for _, phase := range []record.Phase{record.PhaseReceived, record.PhaseAnswered} {
		p.add(record.Event{Kind: record.RPC, Server: servers[by], RPC: &record.RPCInfo{
			Method: record.MethodCall, ID: "7", Tool: "echo", Phase: phase, Nonce: strconv.Itoa(st.N),
		}})
	}
	p.end(st, "timed out")
	return p.done()
}
