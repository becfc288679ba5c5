package doubts

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// TestCallsThatNoServerSaw: of what the host says was answered, its servers must have received as much, where that is its business.
func TestCallsThatNoServerSaw(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *search, st *history.Step)
		doubts int
	}{
		"unseen":           {func(*search, *history.Step) {}, 1},
		"a job":            {func(_ *search, st *history.Step) { st.Op = record.OpJob }, 1},
		"an open":          {func(_ *search, st *history.Step) { st.Op = record.OpOpen }, 0},
		"failed":           {func(_ *search, st *history.Step) { st.OK = false }, 0},
		"was to fail":      {func(_ *search, st *history.Step) { st.Expect = record.ExpectFail }, 0},
		"skipped":          {func(_ *search, st *history.Step) { st.Skipped = true }, 0},
		"without an end":   {func(_ *search, st *history.Step) { st.Ended = never }, 0},
		"of a command":     {func(f *search, _ *history.Step) { f.Header.Host.Kind = record.KindOneshot }, 0},
		"received":         {func(f *search, _ *history.Step) { f.servers[0].Calls = []history.Call{{}} }, 0},
		"lost from sight":  {func(f *search, _ *history.Step) { f.servers[0].Lost = second }, 0},
		"a probe":          {func(_ *search, st *history.Step) { st.Op, st.Detail = record.OpJob, record.DetailProbe }, 0},
		"a call, so named": {func(_ *search, st *history.Step) { st.Detail = record.DetailProbe }, 1},
		"a probe of a server without a handshake": {func(f *search, st *history.Step) {
			st.Op, st.Detail, f.servers[0].Established = record.OpJob, record.DetailProbe, never
		}, 1},
		"a probe, lost": {func(f *search, st *history.Step) {
			st.Op, st.Detail, f.servers[0].Established, f.servers[0].Lost = record.OpJob, record.DetailProbe, never, second
		}, 0},
		"a probe by calls": {func(f *search, st *history.Step) {
			st.Op, st.Detail, f.servers[0].Established, f.servers[0].Calls = record.OpJob, record.DetailProbe, never, []history.Call{{}}
		}, 0},
		"a probe of another session": {func(_ *search, st *history.Step) {
			st.Op, st.Detail, st.Session = record.OpJob, record.DetailProbe, "s2"
		}, 1},
		"a probe of another label": {func(_ *search, st *history.Step) {
			st.Op, st.Detail, st.Label = record.OpJob, record.DetailProbe, "steady"
		}, 1},
	} {
		f := opened("s1")
		c.change(f, stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", OK: true}, 4*second, 5*second))
		f.doubtUnseenCalls()
		assert.Len(t, f.found, c.doubts, name)
	}
}

// TestCallsThatWentAstray: a call that a server of another session or label received is a doubt, where sessions are known.
func TestCallsThatWentAstray(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *search, st *history.Step)
		doubts int
	}{
		"its own":                {func(*search, *history.Step) {}, 0},
		"another session's":      {func(_ *search, st *history.Step) { st.Session = "s2" }, 1},
		"another label's":        {func(_ *search, st *history.Step) { st.Label = "steady" }, 1},
		"both":                   {func(_ *search, st *history.Step) { st.Session, st.Label = "s2", "steady" }, 1},
		"of no session":          {func(f *search, st *history.Step) { st.Session, f.servers[0].Session = "s2", "" }, 0},
		"no step's":              {func(f *search, st *history.Step) { st.Session, f.servers[0].Calls[0].Nonce = "s2", "77" }, 0},
		"sessions are not known": {func(f *search, st *history.Step) { st.Session, f.Header.Host.Kind = "s2", record.KindCommand }, 0},
	} {
		f := opened("s1")
		st := stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", OK: true}, 4*second, 5*second)
		f.servers[0].Calls = []history.Call{{Nonce: "1"}}
		c.change(f, st)
		f.doubtSteps()
		found := slices.DeleteFunc(f.found, func(d record.Doubt) bool { return d.Code != record.DoubtCrossedCall })
		assert.Len(t, found, c.doubts, name)
		for _, d := range found {
			assert.Contains(t, d.Text, "was received by flaky#1, which is a server of session s1", name)
		}
	}
}

// TestCallsThatNobodyCouldMake are told by the reason that the driver gives, each once.
func TestCallsThatNobodyCouldMake(t *testing.T) {
	t.Parallel()
	p := newPlay()
	for _, why := range []string{"no list", "no list", "no\x1bcancel", "", "played"} {
		p.step(record.Step{Op: record.OpCall, Session: "s1", Label: "flaky"})
		st := record.Step{N: p.steps, Op: record.OpCall, Session: "s1", Label: "flaky", Error: why, NotPlayed: why != ""}
		if why != "played" {
			p.add(record.Event{Kind: record.StepSkipped, Step: &st})
		}
	}
	f := p.search()
	f.doubtSteps()
	var told []string
	for _, d := range f.found {
		if d.Code == record.DoubtCallNotPlayed {
			told = append(told, d.Text)
		}
	}
	assert.Equal(t, []string{"no list (2 calls left out)", "no?cancel (1 call left out)"}, told)
}

// TestWhatIsOrphanedOutOfSight: without a subreaper, a fault whose processes have no line on the ledger may leave some unseen.
func TestWhatIsOrphanedOutOfSight(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *search)
		doubts int
	}{
		"unseen":      {func(*search) {}, 1},
		"a subreaper": {func(f *search) { f.Header.Witness.Subreaper = true }, 0},
		"on Linux":    {func(f *search) { f.Header.System.OS = "linux" }, 0},
		"not fired":   {func(f *search) { f.servers[0].Faults = nil }, 0},
		"another":     {func(f *search) { f.Header.Plan.Faults[0].Do, f.servers[0].Faults[0].Do = "hang", "hang" }, 0},
	} {
		f := opened("s1")
		f.Header.Witness.Subreaper, f.Header.System.OS = false, "darwin"
		fault := record.PlanFault{Label: "flaky", On: "order", Do: unlisted[0], Fires: 1}
		f.Header.Plan.Faults = []record.PlanFault{fault, fault}
		f.servers[0].Faults = []history.FaultMark{{T: second, Fault: record.Fault{On: "order", Do: unlisted[0]}}}
		c.change(f)
		f.doubtOrphans()
		assert.Len(t, f.found, c.doubts, name)
	}
}

// TestWhatAccountsForAStep: it is told of at its open, by a signal of its server, or by what that did wrong.
func TestWhatAccountsForAStep(t *testing.T) {
	t.Parallel()
	call := record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no"}
	for name, c := range map[string]struct {
		change func(o, st *history.Step)
		never  bool
	}{
		"the open failed":      {func(*history.Step, *history.Step) {}, true},
		"it worked":            {func(o, _ *history.Step) { o.OK = true }, false},
		"it was to fail":       {func(o, _ *history.Step) { o.Expect = record.ExpectFail }, false},
		"it was skipped":       {func(o, _ *history.Step) { o.Skipped = true }, false},
		"it has no end":        {func(o, _ *history.Step) { o.Ended = never }, false},
		"it ended later":       {func(o, _ *history.Step) { o.Ended = 5*second + 1 }, false},
		"it ended just before": {func(o, _ *history.Step) { o.Ended = 5 * second }, true},
		"of another label":     {func(o, _ *history.Step) { o.Label = "steady" }, false},
		"of another session":   {func(o, _ *history.Step) { o.Session = "s2" }, false},
		"it was a call":        {func(o, _ *history.Step) { o.Op = record.OpCall }, false},
		"itself an open":       {func(_, st *history.Step) { st.Op = record.OpOpen }, false},
		"of all sessions":      {func(o, st *history.Step) { o.Session, st.Session = "", "" }, false},
	} {
		f := opened("s1", "s1")
		o := stepIn(f, 0, record.Step{Op: record.OpOpen, Session: "s1", Label: "flaky", Error: "no"}, 3*second, 4*second)
		st := stepIn(f, 1, call, 5*second, 6*second)
		c.change(o, st)
		assert.Equal(t, c.never, f.neverOpened(st), name)
	}
	for name, c := range map[string]struct {
		change func(st *history.Step, s *history.Server)
		during bool
	}{
		"meanwhile":           {func(*history.Step, *history.Server) {}, true},
		"before":              {func(_ *history.Step, s *history.Server) { s.Signals[0].T = 5*second - 1 }, false},
		"a little later":      {func(_ *history.Step, s *history.Server) { s.Signals[0].T = 7 * second }, true},
		"long after":          {func(_ *history.Step, s *history.Server) { s.Signals[0].T = 7*second + 1 }, false},
		"stdin had ended":     {func(_ *history.Step, s *history.Server) { s.Signals[0].Stdin = record.StdinClosed }, false},
		"of another label":    {func(_ *history.Step, s *history.Server) { s.Label = "steady" }, false},
		"of another session":  {func(_ *history.Step, s *history.Server) { s.Session = "s2" }, false},
		"of no session":       {func(st *history.Step, s *history.Server) { st.Session, s.Session = "", "" }, false},
		"without any signals": {func(_ *history.Step, s *history.Server) { s.Signals = nil }, false},
	} {
		f := opened("s1")
		st := stepIn(f, 0, call, 5*second, 6*second)
		s := f.servers[0]
		s.Signals = []history.SignalMark{{T: 5 * second, Stdin: record.StdinOpen}}
		c.change(st, s)
		assert.Equal(t, c.during, f.signalledDuring(st), name)
	}
	const fault = " (meanwhile flaky#1 committed its fault hang)"
	for name, c := range map[string]struct {
		change func(st *history.Step, s *history.Server)
		says   string
	}{
		"meanwhile":          {func(*history.Step, *history.Server) {}, fault},
		"before":             {func(_ *history.Step, s *history.Server) { s.Faults[0].T = 5*second - 1 }, ""},
		"after":              {func(_ *history.Step, s *history.Server) { s.Faults[0].T = 6*second + 1 }, ""},
		"of another label":   {func(_ *history.Step, s *history.Server) { s.Label = "steady" }, ""},
		"of another session": {func(_ *history.Step, s *history.Server) { s.Session = "s2" }, ""},
		"in all sessions":    {func(st *history.Step, s *history.Server) { st.Session, s.Session = "", "s2" }, fault},
	} {
		f := opened("s1")
		st := stepIn(f, 0, call, 5*second, 6*second)
		s := f.servers[0]
		s.Faults = []history.FaultMark{hangs}
		c.change(st, s)
		assert.Equal(t, c.says, f.faultDuring(st), name)
	}
}

// TestStepsThatDidNotDoWhatTheyHadTo are told where nothing accounts for it.
func TestStepsThatDidNotDoWhatTheyHadTo(t *testing.T) {
	t.Parallel()
	failed := []string{`call of session s1 failed, and no law says why: "no"`}
	for name, c := range map[string]struct {
		change func(f *search, st *history.Step)
		says   []string
	}{
		"failed":           {func(*search, *history.Step) {}, failed},
		"and explained":    {func(f *search, st *history.Step) { f.Blamed = map[int]bool{st.N: true} }, nil},
		"had to work":      {func(_ *search, st *history.Step) { st.Expect = record.ExpectOK }, failed},
		"need not work":    {func(_ *search, st *history.Step) { st.Expect = record.ExpectAny }, nil},
		"without an end":   {func(_ *search, st *history.Step) { st.Ended = never }, nil},
		"ended at once":    {func(_ *search, st *history.Step) { st.Begun, st.Ended = 0, 0 }, failed},
		"skipped":          {func(_ *search, st *history.Step) { st.Skipped = true }, []string{`1 step "call" was skipped: "no"`}},
		"skipped, unasked": {func(_ *search, st *history.Step) { st.Skipped, st.Unasked = true, true }, nil},
		"had to fail":      {func(_ *search, st *history.Step) { st.Expect = record.ExpectFail }, nil},
		"had to fail, well": {func(_ *search, st *history.Step) { st.Expect, st.OK = record.ExpectFail, true }, []string{
			"call of session s1 succeeded, although the scenario relies on its failure. " +
				"If an answer is right here, write expect: any in the scenario",
		}},
		"had to fail, answered": {func(_ *search, st *history.Step) {
			st.Expect, st.OK, st.Answer = record.ExpectFail, true, "MCP tool 'sleep' failed\x1b[2J"
		}, []string{
			`call of session s1 succeeded with: "MCP tool 'sleep' failed\x1b[2J", although the scenario relies on its failure. ` +
				"If an answer is right here, write expect: any in the scenario",
		}},
		"not cancelled, answered": {func(_ *search, st *history.Step) {
			st.Expect, st.Uncut, st.OK, st.Answer = record.ExpectFail, true, true, "done"
		}, []string{`call of session s1 ended before it could be cancelled with: "done"`}},
		"not cancelled": {func(_ *search, st *history.Step) { st.Expect, st.Uncut = record.ExpectFail, true }, []string{
			"call of session s1 ended before it could be cancelled",
		}},
		"not cancelled, explained": {func(f *search, st *history.Step) {
			st.Expect, st.Uncut, f.Blamed = record.ExpectFail, true, map[int]bool{st.N: true}
		}, nil},
		"answered, and not seen": {func(_ *search, st *history.Step) { st.OK = true }, []string{
			"the host says that 1 call of session s1 was answered, but its servers received 0",
		}},
	} {
		f := opened("s1")
		c.change(f, stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no"}, 5*second, 6*second))
		f.doubtSteps()
		assert.Equal(t, c.says, texts(f.found), name)
	}
}

// TestStepsThatWereSkipped are counted by what they are and why.
func TestStepsThatWereSkipped(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s2", "s3", "s4")
	for i, why := range []string{"no", "never", "no", ""} {
		stepIn(f, i, record.Step{Op: record.OpReload, Error: why}, second, second).Skipped = why != ""
	}
	f.doubtSkipped()
	assert.Equal(t, []string{`2 steps "reload" were skipped: "no"`, `1 step "reload" was skipped: "never"`}, texts(f.found))
}

// TestStepsThatARunIsAbout count where they were played; what is not of them counts for nothing.
func TestStepsThatARunIsAbout(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s2")
	f.Steps()[0].Defining = true
	f.Header.Plan.Defining = 1
	f.doubtPurpose()
	assert.Empty(t, f.found)
	f.Header.Plan.Defining = 3
	f.doubtPurpose()
	assert.Equal(t, []string{"2 steps that this scenario is about were not run: the run did not reach it"}, texts(f.found))
}

// TestWhatTheBenchWroteDown is passed on: each text once, and five of a kind.
func TestWhatTheBenchWroteDown(t *testing.T) {
	t.Parallel()
	p := newPlay()
	write := func(code record.DoubtCode, text string) {
		p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: code, Text: text}})
	}
	var want []record.Doubt
	for i, text := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		write(record.DoubtLedgerStranger, text)
		write(record.DoubtLedgerStranger, text)
		if i < 5 {
			write(record.DoubtSweep, text)
			want = append(want, record.Doubt{Code: record.DoubtLedgerStranger, Text: text}, record.Doubt{Code: record.DoubtSweep, Text: text})
		}
	}
	write("", "without a name")
	f := p.search()
	f.doubtRecorded()
	want = append(want, record.Doubt{Code: record.DoubtUnnamed, Text: "without a name"}, record.Doubt{Code: record.DoubtLedgerStranger, Text: "and 2 more of this kind"})
	assert.Equal(t, want, f.found)
}

// TestNoLimitIsNoDoubt: a step that was left to the host's own limit was played, and that there is none leaves nothing open.
func TestNoLimitIsNoDoubt(t *testing.T) {
	t.Parallel()
	for patience, doubts := range map[record.Duration]int{record.Duration(second): 0, 0: 2} {
		f := opened("s1")
		f.Header.Plan.Defining = 1
		st := stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Patience: patience, Defining: true}, 4*second, 5*second)
		st.Skipped = true
		f.doubtSkipped()
		f.doubtPurpose()
		assert.Len(t, f.found, doubts, "skipped, and not played")
	}
}
