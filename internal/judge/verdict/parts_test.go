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

// second is a moment of a casefile whose times a test sets itself.
const second = int64(s)

// opened is the casefile of a run in which sessions were opened, the first ones of the same name, before the first second.
func opened(sessions ...string) *casefile {
	p := newPlay()
	for _, name := range sessions {
		p.open(name, "flaky")
	}
	p.wait(100 * s)
	p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample}})
	return open(p.run)
}

// stepIn is a step of a casefile, from one time to another.
func stepIn(f *casefile, n int, st record.Step, begun, ended int64) *history.Step {
	step := f.Steps()[n]
	st.N = step.N
	step.Step, step.Begun, step.Ended = st, begun, ended
	return step
}

var (
	holdsIt = history.FaultMark{T: second, Fault: record.Fault{On: "start", Do: record.DoLock}}
	lockout = history.FaultMark{T: 5 * second, Fault: record.Fault{On: "start", Do: record.DoLock, Breaks: true, Detail: "taken"}}
	hangs   = history.FaultMark{T: 5 * second, Fault: record.Fault{On: "order", Do: "hang", Breaks: true}}
)

// TestAStaleHolder: an older server of the label that lives and has the lock is to blame, if its session is the same or over.
func TestAStaleHolder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile, s, o *history.Server)
		stale  bool
	}{
		"of the same session": {func(*casefile, *history.Server, *history.Server) {}, true},
		"of another, open":    {func(_ *casefile, s, _ *history.Server) { s.Session = "s9" }, false},
		"of another, ending": {func(f *casefile, s, _ *history.Server) {
			s.Session = "s9"
			f.Session("flaky", "s1").Changes = []history.SessionChange{{Session: record.Session{State: record.SessionEnding}, T: second}}
		}, true},
		"of another, ended": {func(f *casefile, s, _ *history.Server) {
			s.Session = "s9"
			f.Session("flaky", "s1").Changes = []history.SessionChange{{Session: record.Session{State: record.SessionEnded}, T: second}}
		}, true},
		"of another label":  {func(_ *casefile, _, o *history.Server) { o.Label = "steady" }, false},
		"younger":           {func(_ *casefile, _, o *history.Server) { o.Born = 5 * second }, false},
		"dead":              {func(_ *casefile, _, o *history.Server) { o.Died = 5 * second }, false},
		"died later":        {func(_ *casefile, _, o *history.Server) { o.Died = 5*second + 1 }, true},
		"without a lock":    {func(_ *casefile, _, o *history.Server) { o.Faults = nil }, false},
		"another fault":     {func(_ *casefile, _, o *history.Server) { o.Faults = []history.FaultMark{hangs} }, false},
		"locked out itself": {func(_ *casefile, _, o *history.Server) { o.Faults = append(o.Faults, lockout) }, false},
	} {
		f := opened("s1", "s1")
		o, s := f.servers[0], f.servers[1]
		o.Faults, s.Faults = []history.FaultMark{holdsIt}, []history.FaultMark{holdsIt, hangs, lockout}
		c.change(f, s, o)
		assert.Equal(t, c.stale, f.staleHolder(s, 5*second) == o, name)
		assert.Equal(t, map[bool]int{true: 1}[c.stale], f.judgeHeld(), name)
	}
	f := opened("s1", "s1")
	o, s := f.servers[0], f.servers[1]
	o.Faults, s.Faults = []history.FaultMark{holdsIt}, []history.FaultMark{holdsIt, lockout}
	assert.Contains(t, f.heldBreach(s, o, 5*second, "taken").Narrative, "and was still running at the end of the file")
	o.Died = 7 * second
	assert.Contains(t, f.heldBreach(s, o, 5*second, "taken").Narrative, "held it and was gone 2 s later")
	assert.Contains(t, f.heldBreach(s, o, 5*second, "taken").Narrative, `taken`)
}

// TestALockoutAccountsForFailures of its session, from the connect that it spoiled to the next one that works, and for no others.
func TestALockoutAccountsForFailures(t *testing.T) {
	t.Parallel()
	failed := record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no"}
	fine, other, skipped := failed, failed, failed
	fine.OK, fine.Error = true, ""
	other.Session = "s2"
	for name, c := range map[string]struct {
		steps  []record.Step
		begun  []int64
		blamed []int
	}{
		"the connect, and what follows": {[]record.Step{failed, failed, failed}, []int64{4, 5, 6}, []int{1, 2, 3}},
		"until one works":               {[]record.Step{failed, fine, failed}, []int64{4, 5, 6}, []int{1}},
		"not what ended before":         {[]record.Step{failed, failed, failed}, []int64{3, 4, 6}, []int{2, 3}},
		"not what began later":          {[]record.Step{failed, failed, failed}, []int64{3, 6, 7}, nil},
		"not of another session":        {[]record.Step{failed, other, failed}, []int64{4, 5, 6}, []int{1, 3}},
	} {
		f := opened("s1", "s1", "s1")
		for n, st := range c.steps {
			begun := c.begun[n] * second
			stepIn(f, n, st, begun, begun+second+second/2)
		}
		f.blameLockout(facts.SessionKey{Label: "flaky", Name: "s1"}, 5*second)
		var got []int
		for n := 1; n <= 3; n++ {
			if f.Blamed[n] {
				got = append(got, n)
			}
		}
		assert.Equal(t, c.blamed, got, name)
	}
	f := opened("s1")
	stepIn(f, 0, skipped, 4*second, 6*second).Skipped = true
	f.blameLockout(facts.SessionKey{Label: "flaky", Name: "s1"}, 5*second)
	assert.Empty(t, f.Blamed[1], "what was skipped has not failed")
}

// TestWhoWasLockedOut: others of the label that said so while the holder lived.
func TestWhoWasLockedOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s, o *history.Server)
		out    bool
	}{
		"locked out":          {func(_, _ *history.Server) {}, true},
		"the holder had none": {func(s, _ *history.Server) { s.Faults = nil }, false},
		"it was out itself":   {func(s, _ *history.Server) { s.Faults = []history.FaultMark{lockout} }, false},
		"another fault": {func(s, _ *history.Server) {
			s.Faults = []history.FaultMark{{T: second, Fault: record.Fault{Do: "hang"}}}
		}, false},
		"before its birth":  {func(s, _ *history.Server) { s.Born = 5*second + 1 }, false},
		"at its birth":      {func(s, _ *history.Server) { s.Born = 5 * second }, true},
		"after its death":   {func(s, _ *history.Server) { s.Died = 5 * second }, false},
		"before its death":  {func(s, _ *history.Server) { s.Died = 5*second + 1 }, true},
		"of another label":  {func(_, o *history.Server) { o.Label = "steady" }, false},
		"only holds, too":   {func(_, o *history.Server) { o.Faults = []history.FaultMark{holdsIt} }, false},
		"met another fault": {func(_, o *history.Server) { o.Faults = []history.FaultMark{hangs} }, false},
	} {
		f := opened("s1", "s2")
		s, o := f.servers[0], f.servers[1]
		s.Faults, o.Faults = []history.FaultMark{holdsIt}, []history.FaultMark{lockout}
		c.change(s, o)
		want, says := []*history.Server(nil), ""
		if c.out {
			want, says = []*history.Server{o}, "It holds what flaky#2 needed to start, and could not have."
		}
		assert.Equal(t, want, f.lockedOut(s), name)
		assert.Equal(t, says, f.describeLockout(s), name)
	}
}

// TestWhatTheServerOfACallDid is told of the newest server of its session that was there when it began.
func TestWhatTheServerOfACallDid(t *testing.T) {
	t.Parallel()
	const newest, older, nobody = "flaky#2 (pid 102) was its server", "flaky#1 (pid 101) was its server", "No server of the session was alive when it began."
	for name, c := range map[string]struct {
		change func(st *history.Step, old, s *history.Server)
		says   []string
	}{
		"alive":                   {func(*history.Step, *history.Server, *history.Server) {}, []string{newest, "It had not come back when the bench gave it up."}},
		"answered after all":      {func(st *history.Step, _, _ *history.Server) { st.OK = true }, []string{newest, "It was answered after all."}},
		"without an end":          {func(st *history.Step, _, _ *history.Server) { st.OK, st.Ended = true, never }, []string{newest, "It had not come back"}},
		"the newest was not born": {func(_ *history.Step, _, s *history.Server) { s.Born = 4*second + 1 }, []string{older}},
		"born as it began":        {func(_ *history.Step, _, s *history.Server) { s.Born = 4 * second }, []string{newest}},
		"the newest was dead":     {func(_ *history.Step, _, s *history.Server) { s.Died = 4 * second }, []string{older}},
		"it died meanwhile":       {func(_ *history.Step, _, s *history.Server) { s.Died = 4*second + 1 }, []string{newest}},
		"of another session":      {func(_ *history.Step, _, s *history.Server) { s.Session = "s2" }, []string{older}},
		"of another label":        {func(_ *history.Step, _, s *history.Server) { s.Label = "steady" }, []string{older}},
		"with a fault":            {func(_ *history.Step, _, s *history.Server) { s.Faults = []history.FaultMark{hangs} }, []string{newest + ", which had committed its fault hang"}},
		"nobody": {func(_ *history.Step, old, s *history.Server) {
			old.Died, s.Died = second, second
		}, []string{nobody}},
	} {
		f := opened("s1", "s1")
		st := stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Limit: record.Duration(s)}, 4*second, 6*second)
		c.change(st, f.servers[0], f.servers[1])
		for _, says := range c.says {
			assert.Contains(t, f.callNarrative(st), says, name)
		}
	}
	for name, mark := range map[string]history.FaultMark{
		"later":          {T: 6*second + 1, Fault: hangs.Fault},
		"that is no end": {T: 5 * second, Fault: record.Fault{Do: "ignore"}},
	} {
		f := opened("s1")
		f.servers[0].Faults = []history.FaultMark{mark}
		st := stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky"}, 4*second, 6*second)
		assert.NotContains(t, f.callNarrative(st), "fault", name)
	}
}

// TestWhomAStepHasToEnd: who was there when it began and can be seen; of a close, the servers of its session alone.
func TestWhomAStepHasToEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(st *history.Step, s *history.Server)
		meant  bool
	}{
		"the session's":    {func(*history.Step, *history.Server) {}, true},
		"born later":       {func(_ *history.Step, s *history.Server) { s.Born = 4*second + 1 }, false},
		"gone before":      {func(_ *history.Step, s *history.Server) { s.Died = 4*second - 1 }, false},
		"gone as it began": {func(_ *history.Step, s *history.Server) { s.Died = 4 * second }, true},
		"lost":             {func(_ *history.Step, s *history.Server) { s.Lost = second }, false},
		"another label":    {func(_ *history.Step, s *history.Server) { s.Label = "steady" }, false},
		"another session":  {func(_ *history.Step, s *history.Server) { s.Session = "s2" }, false},
		"of a stop, all":   {func(st *history.Step, s *history.Server) { st.Op, s.Session = record.OpStop, "s2" }, true},
	} {
		f := opened("s1")
		st := stepIn(f, 0, record.Step{Op: record.OpClose, Session: "s1", Label: "flaky"}, 4*second, 6*second)
		c.change(st, f.servers[0])
		assert.Equal(t, c.meant, f.meantBy(st, f.servers[0]), name)
	}
}

// TestWhatACloseWaitedFor is told where its servers had gone more than a second before it came back; the first three are told of.
func TestWhatACloseWaitedFor(t *testing.T) {
	t.Parallel()
	const waited = "The close went on for 2 s after that"
	for name, c := range map[string]struct {
		died   []int64
		waited bool
	}{
		"for nobody else":        {[]int64{5, 6, 6}, true},
		"for the slowest":        {[]int64{6, 7, 6}, false},
		"for one that lives on":  {[]int64{never, 6, 6}, false},
		"for one, come what may": {[]int64{6, 9, 6}, false},
	} {
		f := opened("s1", "s1", "s1")
		st := stepIn(f, 0, record.Step{Op: record.OpClose, Session: "s1", Label: "flaky"}, 4*second, 8*second)
		for i, died := range c.died {
			if f.servers[i].Died = never; died >= 0 {
				f.servers[i].Died = died * second
			}
		}
		if c.waited {
			assert.Contains(t, f.shutdownNarrative(st), waited, name)
		} else {
			assert.NotContains(t, f.shutdownNarrative(st), "went on", name)
		}
		assert.NotContains(t, f.shutdownNarrative(st), "more had to be ended", name)
	}
	f := opened("s1", "s1", "s1", "s1", "s1")
	st := stepIn(f, 0, record.Step{Op: record.OpClose, Session: "s1", Label: "flaky"}, 4*second, 8*second)
	assert.Contains(t, f.shutdownNarrative(st), "2 more had to be ended.")
	st.Session = "s2"
	assert.Equal(t, "No server was alive that it had to wait for.", f.shutdownNarrative(st))
}

// TestWhatKindOfSlowEnd: late, hung, or the bench's own doing.
func TestWhatKindOfSlowEnd(t *testing.T) {
	t.Parallel()
	const limit = record.Duration(2 * s)
	killed := &record.Exit{Asked: true, Signal: "SIGKILL", Code: -1}
	for name, c := range map[string]struct {
		step        record.Step
		ended       int64
		exited      int64
		exit        *record.Exit
		interrupted bool
		kind        string
	}{
		"a close in time":              {record.Step{Op: record.OpClose, OK: true}, 6, never, nil, false, ""},
		"a slow close":                 {record.Step{Op: record.OpClose, OK: true}, 7, never, nil, false, "slow-close"},
		"a close that failed":          {record.Step{Op: record.OpClose}, 7, never, nil, false, "hung-close"},
		"a close that was cut short":   {record.Step{Op: record.OpClose}, 7, never, nil, true, ""},
		"a slow stop, then cut short":  {record.Step{Op: record.OpStop, OK: true}, 7, never, nil, true, "slow-stop"},
		"a call in time":               {record.Step{Op: record.OpCall}, 6, never, nil, false, ""},
		"a call that came back late":   {record.Step{Op: record.OpCall, OK: true}, 7, never, nil, false, "hung-call"},
		"a list that came back late":   {record.Step{Op: record.OpList}, 7, never, nil, false, "hung-call"},
		"a list, and a kill later":     {record.Step{Op: record.OpList}, 1, 6, &record.Exit{Signal: "SIGKILL"}, false, ""},
		"a call that was cut short":    {record.Step{Op: record.OpCall}, 7, never, nil, true, ""},
		"a late answer, cut later":     {record.Step{Op: record.OpCall, OK: true}, 7, never, nil, true, "hung-call"},
		"a call, and the host ended":   {record.Step{Op: record.OpCall}, 7, 6, &record.Exit{}, false, ""},
		"a call, and it ended later":   {record.Step{Op: record.OpCall}, 7, 7, &record.Exit{}, false, "hung-call"},
		"a stop by force":              {record.Step{Op: record.OpStop}, 6, 6, killed, false, "hung-stop"},
		"a stop, killed before":        {record.Step{Op: record.OpStop}, 6, 3, killed, false, ""},
		"a stop that worked, and died": {record.Step{Op: record.OpStop, OK: true}, 6, 6, killed, false, ""},
		"a close, and the host killed": {record.Step{Op: record.OpClose}, 6, 6, killed, false, ""},
	} {
		p := newPlay()
		p.open("s1", "flaky")
		if c.interrupted {
			p.over(record.End{Reason: record.EndInterrupted})
		}
		f := open(p.run)
		st := stepIn(f, 0, c.step, 4*second, c.ended*second)
		if c.exited >= 0 {
			f.Host().Exited, f.Host().Exit = c.exited*second, *c.exit
		}
		assert.Equal(t, c.kind, f.shutdownKind(st, f.took(st), limit), name)
	}
	f := opened("s1")
	st := stepIn(f, 0, record.Step{Op: record.OpClose}, 4*second, never)
	assert.Equal(t, record.Duration(f.Last()-4*second), f.took(st), "without an end, to that of the file")
}

// TestStuckCalls: what failed in the session of a call that did not return, after that began, is accounted for.
func TestStuckCalls(t *testing.T) {
	t.Parallel()
	failed := record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no"}
	for name, c := range map[string]struct {
		change func(b *breach.Breach, st *history.Step)
		blamed bool
	}{
		"beside it":          {func(*breach.Breach, *history.Step) {}, true},
		"as it began":        {func(b *breach.Breach, st *history.Step) { st.Begun = b.Step.Begun }, true},
		"before it":          {func(b *breach.Breach, st *history.Step) { st.Begun = b.Step.Begun - 1 }, false},
		"of another session": {func(_ *breach.Breach, st *history.Step) { st.Session = "s2" }, false},
		"another kind":       {func(b *breach.Breach, _ *history.Step) { b.Kind = "slow-close" }, false},
		"one that worked":    {func(_ *breach.Breach, st *history.Step) { st.OK = true }, false},
		"an open":            {func(_ *breach.Breach, st *history.Step) { st.Op = record.OpOpen }, false},
	} {
		f := opened("s1", "s1")
		b := &breach.Breach{Kind: "hung-call", Step: stepIn(f, 0, failed, 4*second, 9*second)}
		b.Step.OK = true
		f.Breaches = []*breach.Breach{b}
		st := stepIn(f, 1, failed, 5*second, 6*second)
		c.change(b, st)
		f.stuckWith()
		assert.Equal(t, c.blamed, f.Blamed[st.N], name)
	}
}

// TestWhenAHostWasAsked: what may end a server begins with the first request, and what did with the last before its death.
func TestWhenAHostWasAsked(t *testing.T) {
	t.Parallel()
	at := func(t int64, state record.SessionState) history.SessionChange {
		return history.SessionChange{Session: record.Session{State: state}, T: t * second}
	}
	for name, c := range map[string]struct {
		changes     []history.SessionChange
		host        int64
		first, last int64
	}{
		"never":                            {nil, never, never, never},
		"the host was to stop":             {nil, 5, 5, 5},
		"the host, after its death":        {nil, 11, 11, never},
		"as it died":                       {nil, 10, 10, 10},
		"a close":                          {[]history.SessionChange{at(4, record.SessionEnding), at(6, record.SessionEnded)}, never, 4, 4},
		"a close, and a stop":              {[]history.SessionChange{at(4, record.SessionEnding), at(6, record.SessionEnded)}, 8, 4, 8},
		"opened anew":                      {[]history.SessionChange{at(4, record.SessionOpening)}, never, 4, 4},
		"asked twice":                      {[]history.SessionChange{at(4, record.SessionOpening), at(5, record.SessionEnding)}, never, 4, 5},
		"asked after its death":            {[]history.SessionChange{at(4, record.SessionOpening), at(11, record.SessionEnding)}, never, 4, 4},
		"opened before its birth":          {[]history.SessionChange{at(1, record.SessionOpening)}, never, never, never},
		"as it was born":                   {[]history.SessionChange{at(2, record.SessionOpening)}, never, never, never},
		"it just worked":                   {[]history.SessionChange{at(4, record.SessionOpen)}, never, never, never},
		"ended without a request":          {[]history.SessionChange{at(4, record.SessionOpen), at(6, record.SessionEnded)}, never, 3, 3},
		"worked, closed":                   {[]history.SessionChange{at(4, record.SessionOpen), at(5, record.SessionEnding), at(6, record.SessionEnded)}, never, 5, 5},
		"ended, though unasked, and asked": {[]history.SessionChange{at(4, record.SessionEnded), at(5, record.SessionOpening)}, never, 3, 5},
		"its end told after its death":     {[]history.SessionChange{at(1, record.SessionOpening), at(11, record.SessionEnded)}, never, 3, 3},
		"used, its end told late":          {[]history.SessionChange{at(1, record.SessionOpening), at(4, record.SessionOpen), at(11, record.SessionEnded)}, never, 3, never},
		"opened anew after its death":      {[]history.SessionChange{at(1, record.SessionOpen), at(11, record.SessionOpening), at(12, record.SessionEnded)}, never, 11, never},
		"ending since before":              {[]history.SessionChange{at(1, record.SessionEnding), at(6, record.SessionEnded)}, never, never, never},
	} {
		f := opened("s1")
		s := f.servers[0]
		s.Born, s.Died, s.Heard = 2*second, 10*second, 3*second
		f.Session("flaky", "s1").Changes = c.changes
		if f.Host().AskedAt = never; c.host >= 0 {
			f.Host().AskedAt = c.host * second
		}
		in := func(t int64) int64 {
			if t < 0 {
				return never
			}
			return t * second
		}
		assert.Equal(t, in(c.first), f.firstAsked(s), name)
		assert.Equal(t, in(c.last), f.askedToEnd(s), name)
	}
}

// TestSignalsAndTheEndOfStdin: which came first, as far as the server could tell.
func TestSignalsAndTheEndOfStdin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stdin          record.StdinState
		eof            int64
		first, unclear bool
		together       int64
	}{
		"open":                     {record.StdinOpen, never, true, false, never},
		"open, ended later":        {record.StdinOpen, 5*second + 1, true, false, never},
		"open, but it had ended":   {record.StdinOpen, 5 * second, false, false, never},
		"closed, not read":         {record.StdinClosed, never, false, false, 5 * second},
		"closed, at that moment":   {record.StdinClosed, 5*second - second/4 + 1, false, false, 5 * second},
		"closed, before":           {record.StdinClosed, 5*second - second/4, false, false, never},
		"unknown":                  {"", never, false, true, never},
		"unknown, read afterwards": {"", 5*second + 1, false, true, never},
		"unknown, read before":     {"", 5 * second, false, false, never},
	} {
		f := opened("s1")
		f.Header.Limits.Grace = record.Duration(s)
		s := f.servers[0]
		s.EOF, s.Signals = c.eof, []history.SignalMark{{T: 5 * second, Text: "SIGTERM", Stdin: c.stdin}}
		_, first := facts.SignalFirst(s)
		assert.Equal(t, c.first, first, name)
		assert.Equal(t, c.unclear, unclearOrder(s), name)
		assert.Equal(t, c.together, f.togetherAt(s), name)
		f.Header.Limits.Grace = 0
		assert.Equal(t, never, f.togetherAt(s), name)
	}
	f := opened("s1")
	s := f.servers[0]
	assert.Equal(t, never, f.togetherAt(s))
	s.Signals = []history.SignalMark{{T: 5 * second, Text: "SIGTERM"}}
	assert.Contains(t, f.signalledAtOnce(s).Value, "at the moment of stdin EOF")
	s.EOF = 6 * second
	assert.Contains(t, f.signalledAtOnce(s).Value, "at the moment of stdin EOF")
	s.EOF = 2 * second
	assert.Contains(t, f.signalledAtOnce(s).Value, "3 s after stdin EOF")
}

// TestWhomTheHostEnded: a server with which nothing was wrong, and whose end was seen and was the host's doing.
func TestWhomTheHostEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile, s *history.Server)
		ended  bool
	}{
		"killed":           {func(_ *casefile, s *history.Server) { s.Died = 5 * second }, true},
		"told by EOF":      {func(_ *casefile, s *history.Server) { s.EOF = 5 * second }, true},
		"told by a signal": {func(_ *casefile, s *history.Server) { s.Signals = []history.SignalMark{{T: 5 * second}} }, true},
		"alive":            {func(*casefile, *history.Server) {}, false},
		"lost":             {func(_ *casefile, s *history.Server) { s.Died, s.Lost = 5*second, 7*second }, false},
		"broken":           {func(_ *casefile, s *history.Server) { s.Died, s.Broken = 5*second, 4*second }, false},
		"never ready":      {func(_ *casefile, s *history.Server) { s.Died, s.Ready = 5*second, never }, false},
		"harmed before": {func(f *casefile, s *history.Server) {
			s.Died = 5 * second
			f.harm(s, 5*second)
		}, false},
		"harmed later": {func(f *casefile, s *history.Server) {
			s.Died = 5 * second
			f.harm(s, 5*second+1)
		}, true},
		"the host was killed": {func(f *casefile, s *history.Server) {
			s.Died, f.Host().Exited = 5*second, 5*second
		}, false},
	} {
		f := opened("s1")
		c.change(f, f.servers[0])
		assert.Equal(t, c.ended, f.endedByHost(f.servers[0]), name)
	}
	p := newPlay()
	p.open("s1", "flaky")
	p.add(record.Event{Kind: record.Doubted, Server: "flaky#1", Doubt: &record.Doubt{Code: record.DoubtOutside, Text: "somebody"}})
	f := open(p.run)
	f.servers[0].Died = 5 * second
	assert.False(t, f.endedByHost(f.servers[0]), "somebody else did")
	for state, stopped := range map[record.State]bool{record.StateStopped: true, record.StateTraced: true, record.StateSleeping: false} {
		p := newPlay()
		p.open("s1", "flaky")
		p.open("s2", "flaky")
		row := p.procs[p.ids["flaky#2"]]
		row.State = state
		p.procs[row.Identity] = row
		p.look(record.CensusSample, "")
		f := open(p.run)
		assert.False(t, f.WasStopped(f.servers[0]))
		assert.Equal(t, stopped, f.WasStopped(f.servers[1]), state)
	}
}

// TestTheLaunchOfACommandIsKnownFromL1: of commands, L2 says nothing again.
func TestWhatCommandsLeftIsToldOnce(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s2")
	helper := record.Identity{PID: 77, Start: 1}
	f.Breaches = []*breach.Breach{{Law: "L1", Server: f.servers[0]}, {Law: "L1", Process: helper}, {Law: "L3", Server: f.servers[1]}}
	assert.Empty(t, f.toldOfCommands(), "a host that lives on is no command")
	f.Header.Host.Kind = record.KindOneshot
	assert.Equal(t, map[record.Identity]bool{f.servers[0].Birth.Identity: true, helper: true}, f.toldOfCommands())
}

// TestALastWord says how alive a session was.
func TestALastWord(t *testing.T) {
	t.Parallel()
	for says, calls := range map[string][]history.Call{
		"before its first call":     {{Received: 6 * second, Answered: never}},
		"1 call in flight":          {{Received: 5 * second, Answered: never}, {Received: second, Answered: 2 * second}},
		"2 calls in flight":         {{Received: second, Answered: 6 * second}, {Received: 2 * second, Answered: never}},
		"1 s after its last answer": {{Received: second, Answered: 4 * second}, {Received: 2 * second, Answered: 3 * second}},
		"0 s after its last answer": {{Received: second, Answered: 5 * second}},
	} {
		assert.Equal(t, says, facts.LastWord(&history.Server{Calls: calls}, 5*second))
	}
}

// TestRespawnsAreDescribed with the median of the gaps, and with the fault that most of them met.
func TestRespawnsAreDescribed(t *testing.T) {
	t.Parallel()
	f := opened("s1", "s1", "s1", "s1", "s1")
	for i, born := range []int64{1, 9, 10, 16, 18} {
		f.servers[i].Born = born * second
	}
	assert.Equal(t, "5 launches of flaky, half of them within 6 s of the previous one; 0 never finished a handshake.", spawnBreach("flaky", "", f.servers, "").Narrative)
	assert.Equal(t, "1 launch of flaky; 0 never finished a handshake.", spawnBreach("flaky", "", f.servers[:1], "").Narrative)
	name, n := mostOf(map[string]int{"b": 2, "a": 2, "c": 2, "d": 1})
	assert.Equal(t, "a", name)
	assert.Equal(t, 2, n)
	var launched []*history.Server
	for _, at := range []int64{0, 59, 60, 200, 201} {
		launched = append(launched, &history.Server{Times: history.Times{Born: at * second}})
	}
	minute := busiestMinute(launched)
	require.Len(t, minute, 2)
	assert.Zero(t, minute[0].Born, "the first of those with as many")
}

// TestACommandLineIsTold where a process's name does not say it.
func TestACommandLineIsTold(t *testing.T) {
	t.Parallel()
	for says, p := range map[string]record.Process{
		" Its command line: -c sleep.": {Comm: "MainThread", Args: []string{"/usr/bin/node", "-c", "sleep"}},
		" Its command line: .":         {Comm: "MainThread", Args: []string{"/usr/bin/node"}},
	} {
		assert.Equal(t, says, commandOf(p))
	}
	for _, p := range []record.Process{{Comm: "x"}, {Comm: "node", Args: []string{"/usr/bin/node", "x"}}, {Comm: "MainThread", Args: []string{"/bin/leakbench", "fakehelper", "x"}}} {
		assert.Empty(t, commandOf(p))
	}
	f := opened("s1")
	assert.Equal(t, f.servers[0], f.launchedBy(record.Process{Identity: record.Identity{PID: hostPID}}))
	assert.Nil(t, f.launchedBy(record.Process{Identity: record.Identity{PID: 999}}))
}
