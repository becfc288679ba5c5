package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

func TestTheCauseOfAnAbandonedServer(t *testing.T) {
	t.Parallel()
	for want, states := range map[string][]record.Session{
		"session closed":    {{State: record.SessionEnding, Why: "close"}, {State: record.SessionEnded, Why: "close"}},
		"call cancelled":    {{State: record.SessionEnding, Why: "cancel", Cut: true}, {State: record.SessionEnded, Why: "tick", Cut: true}},
		"call timed out":    {{State: record.SessionEnded, Why: "tick", Cut: true}},
		"job done":          {{State: record.SessionEnded, Why: "tick"}},
		"open failed":       {{State: record.SessionEnded, Why: "could not be opened"}},
		"session not ended": {{State: record.SessionOpen}},
	} {
		p := newPlay()
		p.session("s1", "flaky", record.SessionOpening, "", false)
		p.greet(p.launch("flaky", "s1"))
		for _, s := range states {
			p.session("s1", "flaky", s.State, s.Why, s.Cut)
		}
		p.restless("after", nil, record.Want{Label: "flaky", Session: "s1"})
		f := only(t, Judge(p.done()), "abandoned")
		assert.Contains(t, f.Title, "("+want+")")
	}
}

func TestACommandHostKeepsMoreThanOne(t *testing.T) {
	t.Parallel()
	for kind, between := range map[string]func(p *play, a string){
		"duplicate":  func(p *play, _ string) { p.wait(s) },
		"superseded": func(p *play, a string) { p.fault(a, "order", "hang", true) },
	} {
		p := newPlay()
		p.run.Header.Host.Kind = record.KindCommand
		a := p.launch("flaky", "")
		p.greet(a)
		between(p, a)
		p.greet(p.launch("flaky", ""))
		p.restless("after", nil, record.Want{Label: "flaky", Live: 1, AtMost: true})
		f := only(t, Judge(p.done()), kind)
		assert.Equal(t, `at most 1 server of flaky alive at checkpoint "after", within 1 s`, f.Expected)
		assert.Equal(t, []string{a}, f.Servers)
	}
	p := newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	p.greet(p.launch("flaky", ""))
	p.wait(3 * s)
	p.greet(p.launch("flaky", ""))
	p.restless("after", nil, record.Want{Label: "flaky", Live: 1, AtMost: true})
	f := only(t, Judge(p.done()), "superseded")
	assert.Contains(t, f.Title, "(reconnect)", "so long after the first, it is no double start")

	p = newPlay()
	p.run.Header.Host.Kind = record.KindCommand
	p.greet(p.launch("flaky", ""))
	p.restless("after", nil)
	assert.Contains(t, only(t, Judge(p.done()), "abandoned").Title, "(session unknown)")
}

// A server that was launched before another one was broken is a double, one
// that was launched after that has taken its place.
func TestAFaultBeforeAndAfterTheNextLaunch(t *testing.T) {
	t.Parallel()
	for kind, first := range map[string]bool{"superseded": true, "duplicate": false} {
		p := newPlay()
		p.run.Header.Host.Kind = record.KindCommand
		a := p.launch("flaky", "")
		p.greet(a)
		st := p.begin(record.Step{Op: "break", Label: "flaky", Detail: "close-stdout"})
		if first {
			p.fault(a, "order", "close-stdout", true)
		}
		p.greet(p.launch("flaky", ""))
		if !first {
			p.fault(a, "order", "close-stdout", true)
		}
		p.end(st, "")
		p.restless("after", nil, record.Want{Label: "flaky", Live: 1, AtMost: true})
		f := only(t, Judge(p.done()), kind)
		assert.Equal(t, []string{a}, f.Servers)
	}
}

func TestAReloadIsNamed(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.session("s1", "flaky", record.SessionOpening, "reload", false)
	p.greet(p.launch("flaky", "s1"))
	p.session("s1", "flaky", record.SessionOpen, "reload", false)
	p.restless("after", nil, want("flaky", "s1", 1))
	f := only(t, Judge(p.done()), "superseded")
	assert.Contains(t, f.Title, "(reload)")
	assert.Contains(t, f.Why, "The reload replaced flaky#1 by flaky#2")
}

func TestLaunchedAndNeverAsked(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.openFails("s1", "flaky", func() { p.launch("flaky", "s1") })
	p.restless("after", nil, want("flaky", "s1", 0))
	f := only(t, Judge(p.done()), "init-stranded")
	assert.Contains(t, f.Title, "(no fault)")
	assert.Contains(t, f.Why, "never asked to initialize")
}

func TestLateAndLeakedAreToldApart(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	b := p.open("s2", "flaky")
	p.close("s1", "flaky", func() {})
	p.close("s2", "flaky", func() {})
	p.restless("after", func() { p.bye(a) }, want("flaky", "s1", 0), want("flaky", "s2", 0))
	p.wait(s)
	p.bye(b)
	v := Judge(p.done())
	assert.Equal(t, []string{"abandoned", "late"}, kindsIn(v))
	assert.Equal(t, "1 server of flaky exited late (abandoned, session closed): up to 2 s, 1 s allowed", v.Findings[1].Title)
	assert.Contains(t, v.Findings[0].Values[0], "gone at +", "it went after the watch: that is no lateness")
}

func TestASurvivorThatTheFileDoesNotFollow(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 0)}}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.wait(s)
	p.look(record.CensusSettled, "after")
	v := Judge(p.over(record.End{Reason: "interrupted", Signal: "SIGINT"}))
	assert.Equal(t, []string{"abandoned"}, kindsIn(v))
	assert.Equal(t, Leak, v.Outcome)
}

func TestNothingIsFlatOnceTheHostHasGone(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.open("s1", "flaky")
	cp := record.Checkpoint{Name: "after", Wants: []record.Want{want("flaky", "s1", 0)}}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
	p.wait(s)
	p.look(record.CensusSettled, "after")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, LawNotJudged, resultOf(v, "L1").Status)
	assert.Empty(t, v.Findings)
}

// A ledger's word that the census does not confirm is a doubt, not a leak.
func TestOneWitnessIsNotEnoughForALeak(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	delete(p.procs, p.ids[a])
	p.restless("after", nil, want("flaky", "s1", 0))
	v := Judge(p.done())
	assert.NotContains(t, kindsIn(v), "abandoned")
	assert.Contains(t, codesIn(v), record.DoubtDisagree)
}

func TestStories(t *testing.T) {
	t.Parallel()
	pipe := func(known bool, holders ...record.Holder) []record.Descriptor {
		return []record.Descriptor{{FD: 0, Target: "pipe:[1]", Known: known, Holders: holders}}
	}
	for want, e := range map[string]record.Evidence{
		"waits in futex":                  {Syscall: "futex"},
		"sleeps in the kernel at ep_poll": {Wchan: "ep_poll"},
		"is running on a CPU":             {Process: record.Process{State: "R"}},
		"is stopped (state T)":            {Process: record.Process{State: "T"}, Syscall: "read(0)"},
		"sleeps (state D)":                {Process: record.Process{State: "D"}, Wchan: "0"},
		"by the keeper (pid 10,":          {Descriptors: pipe(true, holder("keeper", 10, 3))},
		"by the bench (pid 5,":            {Descriptors: pipe(true, holder("bench", 5, 3))},
		"its stdin is /dev/null":          {Descriptors: []record.Descriptor{{FD: 0, Target: "/dev/null"}}},

		"is blocked in write(1): nobody reads what it writes":                        {Syscall: "write(1)"},
		"is traced by another process and waits for it (state t)":                    {Process: record.Process{State: "t"}},
		"the host (pid 20, fd 7): the host never closed it":                          {Descriptors: pipe(true, holder("host", 20, 7))},
		"the host (pid 20, fd 7) and server x#2 (pid 9, fd 5): a copy was inherited": {Descriptors: pipe(true, holder("host", 20, 7), holder("server x#2", 9, 5))},
		"held by server x#2 (pid 9, fd 5), which inherited a copy":                   {Descriptors: pipe(true, holder("server x#2", 9, 5))},
		"nobody holds the other end of its stdin any more":                           {Descriptors: pipe(true)},
		"leakbench could not see who holds the other end of its stdin":               {Descriptors: pipe(false)},
		"SIGTERM is pending, not handled":                                            {SigPending: []string{"SIGTERM"}},
		"it ignores SIGTERM, so it is unknown whether one was sent":                  {SigIgnored: []string{"SIGPIPE", "SIGTERM"}},
		"no signal reached it":                                                       {},
		"it never read stdin EOF":                                                    {},
		"nobody holds the other end of its stdin any more: stdin EOF is pending":     {Descriptors: pipe(true, record.Holder{Mode: "read", Role: "host"})},
	} {
		p := newPlay()
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() {})
		row := p.procs[p.ids[a]]
		e.Identity = row.Identity
		p.know[e.Identity] = e
		p.restless("after", nil, record.Want{Label: "flaky", Session: "s1"})
		kind := "abandoned"
		switch {
		case e.State == "T" || e.State == "t":
			kind = "stopped"
		case len(e.Descriptors) > 0 && len(e.Descriptors[0].Holders) == 1 && e.Descriptors[0].Holders[0].Role == "server x#2":
			kind = "eof-withheld"
		}
		f := only(t, Judge(p.done()), kind)
		assert.Contains(t, f.Why, want)
		require.Len(t, f.Evidence, 1)
	}
}

func TestTheWordsThatASurvivorHeard(t *testing.T) {
	t.Parallel()
	p := newPlay()
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() {
		p.eof(a)
		p.fault(a, "eof", "ignore", false)
		p.term(a)
		p.fault(a, "term", "ignore", false)
	})
	p.examined(a)
	p.restless("after", nil, want("flaky", "s1", 0))
	f := only(t, Judge(p.done()), "not-escalated")
	assert.Contains(t, f.Why, "it read stdin EOF at +")
	assert.Contains(t, f.Why, "and ignores it, as scripted; it caught SIGTERM at +")
	assert.Contains(t, f.Why, "and ignores it, as scripted; SIGKILL never came")
}
