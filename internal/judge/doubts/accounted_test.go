package doubts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// codes are what was doubted, in its order.
func codes(found []record.Doubt) (all []record.DoubtCode) {
	for _, d := range found {
		all = append(all, d.Code)
	}
	return all
}

// TestARunThatWasCutShort is not blamed for what it could not show any more: that something did not come to rest, or came home late.
func TestARunThatWasCutShort(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end   record.End
		found []record.DoubtCode
	}{
		"to its end": {record.End{Reason: record.EndDone}, []record.DoubtCode{record.DoubtAfterEnd, record.DoubtNotQuiet}},
		"cut short":  {record.End{Reason: record.EndInterrupted}, []record.DoubtCode{record.DoubtInterrupted}},
	} {
		p := newPlay()
		p.open("s1")
		p.add(record.Event{Kind: record.Died, Server: "flaky#1"})
		p.add(record.Event{Kind: record.StepBegun, Step: &record.Step{N: 2, Op: record.OpStop}})
		p.exit(record.Exit{Asked: true})
		p.restless()
		assert.Equal(t, c.found, codes(p.over(c.end, Told{})), name)
	}
}

// TestWhatTheHostDidNotLaunch is told once: where servers are too few, the sessions without one are not told as well.
func TestWhatTheHostDidNotLaunch(t *testing.T) {
	t.Parallel()
	openWithout := record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s9", Label: "flaky", State: record.SessionOpen}}
	for name, c := range map[string]struct {
		open []string
		plan []record.PlanLabel
		kind record.HostKind
		says []string
	}{
		"a session without a server": {[]string{"s1"}, nil, record.KindDriver, []string{"the host called session s9 open, but launched no server for it"}},
		"of a command, it is unseen": {[]string{"s1"}, nil, record.KindCommand, nil},
		"too few":                    {[]string{"s1"}, []record.PlanLabel{{Label: "flaky", Launches: 2}}, record.KindDriver, []string{"the host launched flaky 1 time, the scenario needs 2"}},
		"none":                       {[]string{"s1"}, []record.PlanLabel{{Label: "steady", Launches: 2}}, record.KindDriver, []string{"the host never launched steady; the scenario needs 2"}},
		"none is needed":             {[]string{"s1"}, []record.PlanLabel{{Label: "steady"}}, record.KindCommand, nil},
		"none at all":                {nil, nil, record.KindDriver, []string{"the host launched no server at all"}},
		"none of what is needed":     {nil, []record.PlanLabel{{Label: "flaky", Launches: 2}}, record.KindDriver, []string{"the host never launched flaky; the scenario needs 2"}},
	} {
		p := newPlay()
		for _, session := range c.open {
			p.open(session)
		}
		p.add(openWithout)
		f := p.search()
		f.Header.Host.Kind, f.Header.Plan.Labels = c.kind, c.plan
		f.doubtLaunches()
		var says []string
		for _, d := range f.found {
			says = append(says, d.Text)
		}
		assert.Equal(t, c.says, says, name)
	}
}

// TestWhoseClientsMayShare: more of them were served than servers launched, or the host is known to share or to keep servers.
func TestWhoseClientsMayShare(t *testing.T) {
	t.Parallel()
	const shared = ". Clients may have been given a server that was already there"
	beside := record.Step{Op: record.OpOpen, Session: "s2", Label: "flaky", OK: true}
	for name, c := range map[string]struct {
		change func(h *record.Host, beside *record.Step)
		says   string
	}{
		"two clients, one server": {func(*record.Host, *record.Step) {}, shared},
		"two jobs, one server":    {func(_ *record.Host, st *record.Step) { st.Op = record.OpJob }, shared},
		"the other one failed":    {func(_ *record.Host, st *record.Step) { st.OK = false }, ""},
		"of another label":        {func(_ *record.Host, st *record.Step) { st.Label = "steady" }, ""},
		"only a call":             {func(_ *record.Host, st *record.Step) { st.Op = record.OpCall }, ""},
		"a shared gateway":        {func(h *record.Host, st *record.Step) { h.Servers, st.OK = record.Shared, false }, shared},
		"sessions of one entry":   {func(h *record.Host, st *record.Step) { h.Servers, st.OK = record.Either, false }, shared},
		"a pool":                  {func(h *record.Host, st *record.Step) { h.Profile.Resident, st.OK = 1, false }, shared},
		"one to spare":            {func(h *record.Host, st *record.Step) { h.Profile.Spare, st.OK = 1, false }, shared},
	} {
		p, st := newPlay(), beside
		p.open("s1")
		c.change(&p.run.Header.Host, &st)
		p.step(st)
		f := p.search()
		f.Header.Plan.Labels = []record.PlanLabel{{Label: "flaky", Launches: 2}}
		f.doubtLaunches()
		assert.Equal(t, []string{"the host launched flaky 1 time, the scenario needs 2" + c.says}, texts(f.found), name)
	}
	p := newPlay()
	p.open("s1")
	p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s2", Label: "flaky", State: record.SessionOpen}})
	p.step(beside)
	f := p.search()
	f.doubtLaunches()
	assert.Equal(t, []string{"the host called session s2 open, but launched no server for it" + shared}, texts(f.found))
}

// TestAServerWithoutTheHost has to answer, and to exit soon after stdin EOF; one whose script has faults shows nothing.
func TestAServerWithoutTheHost(t *testing.T) {
	t.Parallel()
	right := record.Control{Label: "flaky", Answered: true, SawEOF: true, Exited: true, After: record.Duration(5 * s)}
	for name, c := range map[string]struct {
		change func(c *record.Control)
		found  []record.DoubtCode
	}{
		"right":           {func(*record.Control) {}, nil},
		"mute":            {func(c *record.Control) { c.Answered = false }, []record.DoubtCode{record.DoubtControlFailed}},
		"deaf":            {func(c *record.Control) { c.Exited = false }, []record.DoubtCode{record.DoubtControlFailed}},
		"late":            {func(c *record.Control) { c.After++ }, []record.DoubtCode{record.DoubtControlLate}},
		"as its script":   {func(c *record.Control) { c.Answered, c.Faults = false, []record.Fault{{Do: "hang"}} }, nil},
		"of another name": {func(c *record.Control) { c.Label = "steady" }, []record.DoubtCode{record.DoubtControlMissing}},
	} {
		p := newPlay()
		p.open("s1")
		control := right
		c.change(&control)
		p.add(record.Event{Kind: record.Controlled, Control: &control})
		f := p.search()
		f.doubtControls()
		assert.Empty(t, f.found, "%s: an old file asks for none", name)
		f.Header.Limits.Controls = true
		f.doubtControls()
		assert.Equal(t, c.found, codes(f.found), name)
	}
}

// TestAPartMayLeaveALawToOthers: another server of the scenario may show what this one does not.
func TestAPartMayLeaveALawToOthers(t *testing.T) {
	t.Parallel()
	for part, found := range map[string]int{"": 2, "flaky": 1} {
		f := opened("s1")
		f.Header.Scenario.Part, f.Header.Plan.Laws = part, []string{"L1", "L2"}
		f.Unjudged = []breach.Unjudged{{Law: "L1"}, {Law: "L2"}}
		f.doubtPurpose()
		assert.Len(t, f.found, found, part)
	}
}

// TestHowStarvedTheMachineWas is told with what is known of it.
func TestHowStarvedTheMachineWas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		waited bool
		until  int64
		says   string
	}{
		"an old file":      {false, 5, "The machine was starved: leakbench waited for a processor 80 % of the time in which it wanted one"},
		"a new one":        {true, 5, "waited for a processor 80 % of the time in which it wanted one, and the processes of the run had to wait 3 s"},
		"no look after it": {true, 50, "the stop took 9 s. It is not known how starved the machine was"},
	} {
		p := newPlay()
		for _, n := range []int64{0, 1} {
			load := record.Load{Ran: record.Duration(n * second), Delayed: record.Duration(n * 4 * second)}
			if c.waited {
				w := record.Duration(n * 3 * second)
				load.Waited = &w
			}
			p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample, Load: &load}})
			p.t += 10 * s
		}
		f := p.search()
		f.Starved = []*breach.Breach{{Law: "L8", Value: "the stop took 9 s", Took: breach.Took{From: 2 * second, To: c.until * second}}}
		f.doubtStarved()
		require.Len(t, f.found, 1, name)
		assert.Contains(t, f.found[0].Text, c.says, name)
	}
}

// TestALaunchOfALifeThatWasOver: it began before the host was killed, and came up in the next life.
func TestALaunchOfALifeThatWasOver(t *testing.T) {
	t.Parallel()
	for start, found := range map[time.Duration]int{39 * s: 0, 58 * s: 1} {
		p := newPlay()
		p.open("s1")
		p.t = 40 * s
		p.exit(record.Exit{})
		p.t = 50 * s
		p.start()
		p.t = 60 * s
		p.launch("s1")
		f := p.search()
		f.servers[1].Birth.Start = hostStart + uint64(start/ms/10)
		f.doubtUnasked()
		assert.Len(t, f.found, found, start)
	}
}

// TestTwinsThatEnded are doubted where nobody signalled them. A bystander that stood for no server is another matter.
func TestTwinsThatEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		exit  record.Exit
		found int
	}{
		"by itself":     {record.StandsAsTwin, record.Exit{Code: 1}, 1},
		"by a signal":   {record.StandsAsTwin, record.Exit{Signal: "SIGTERM"}, 0},
		"the bystander": {"", record.Exit{Code: 1}, 0},
	} {
		p := newPlay()
		p.open("s1")
		p.add(record.Event{Kind: record.BystanderSeen, Server: "flaky", Text: c.text, Process: &record.Process{Identity: record.Identity{PID: 77, Start: 1}}, Exit: &c.exit})
		f := p.search()
		f.doubtTwins()
		assert.Len(t, f.found, c.found, name)
	}
}

// TestAFailedStepIsAccountedFor by a law that blames it, by the end that the host was asked for, or by harm to its session meanwhile.
func TestAFailedStepIsAccountedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(f *search, st *history.Step)
		accounted bool
	}{
		"by nothing":          {func(*search, *history.Step) {}, false},
		"by a law":            {func(f *search, st *history.Step) { f.Blamed = map[int]bool{st.N: true} }, true},
		"the host was to end": {func(f *search, _ *history.Step) { f.Host().AskedAt = 6 * second }, true},
		"it was to end later": {func(f *search, _ *history.Step) { f.Host().AskedAt = 6*second + 1 }, false},
		"it never started":    {func(f *search, st *history.Step) { f.Host().AskedAt, st.Op = 6*second, record.OpStart }, false},
		"it did not stop":     {func(f *search, st *history.Step) { f.Host().AskedAt, st.Op = 6*second, record.OpStop }, false},
		"its session": {func(f *search, _ *history.Step) {
			f.Harmed = map[facts.SessionKey]int64{{Label: "flaky", Name: "s1"}: 6 * second}
		}, true},
		"its session, before": {func(f *search, _ *history.Step) {
			f.Harmed = map[facts.SessionKey]int64{{Label: "flaky", Name: "s1"}: second}
		}, true},
		"long after it": {func(f *search, _ *history.Step) {
			f.Harmed = map[facts.SessionKey]int64{{Label: "flaky", Name: "s2"}: f.NotedBy(6*second) + 1}
		}, false},
		"a signal, of a host that harms nobody": {func(f *search, _ *history.Step) { signalled(f) }, false},
		"a signal, of one that does": {func(f *search, _ *history.Step) {
			signalled(f)
			f.Harmed = map[facts.SessionKey]int64{{Label: "steady", Name: "s2"}: second}
		}, true},
		"its open had failed": {func(f *search, _ *history.Step) {
			stepIn(f, 1, record.Step{Op: record.OpOpen, Session: "s1", Label: "flaky", Error: "no"}, 3*second, 4*second)
		}, true},
		"before it": {func(f *search, _ *history.Step) {
			f.Harmed = map[facts.SessionKey]int64{{Label: "flaky", Name: "s2"}: 5*second - 1}
		}, false},
		"another of the label": {func(f *search, _ *history.Step) {
			f.Harmed = map[facts.SessionKey]int64{{Label: "flaky", Name: "s2"}: 5 * second}
		}, true},
		"another label": {func(f *search, _ *history.Step) {
			f.Harmed = map[facts.SessionKey]int64{{Label: "steady", Name: "s2"}: 5 * second}
		}, false},
		"a step of many": {func(f *search, st *history.Step) {
			f.Harmed, st.Session, st.Label = map[facts.SessionKey]int64{{Label: "steady", Name: "s2"}: 5 * second}, "", ""
		}, true},
	} {
		f := opened("s1", "s2")
		st := stepIn(f, 0, record.Step{Op: record.OpCall, Session: "s1", Label: "flaky", Error: "no"}, 5*second, 6*second)
		c.change(f, st)
		assert.Equal(t, c.accounted, f.accounted(st), name)
	}
}

// signalled has the first server catch a signal in the course of a step that lasts from 5 to 6 s.
func signalled(f *search) {
	f.servers[0].Signals = []history.SignalMark{{T: 5 * second, Stdin: record.StdinOpen}}
}
