package history

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

func of(events []record.Event) *History { return Of(&record.Run{Events: events}) }

// tape makes events as a writer stamps them, one nanosecond apart.
type tape struct{ events []record.Event }

func (p *tape) add(e record.Event) int64 {
	e.Seq, e.T = int64(len(p.events)+1), int64(len(p.events)+1)
	p.events = append(p.events, e)
	return e.T
}

func (p *tape) born(id, label, session string, launch int) int64 {
	return p.add(record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{
		Identity: record.Identity{PID: 100 + launch, Start: 5}, Label: label, Session: session, Launch: launch,
	}})
}

func (p *tape) is(kind record.Kind, id string) int64 {
	return p.add(record.Event{Kind: kind, Server: id})
}

func (p *tape) signal(id, name string) int64 {
	return p.add(record.Event{Kind: record.SawSignal, Server: id, Signal: name})
}

func (p *tape) rpc(id string, method record.Method, rpcID, tool string, phase record.Phase) int64 {
	return p.add(record.Event{Kind: record.RPC, Server: id, RPC: &record.RPCInfo{Method: method, ID: rpcID, Tool: tool, Phase: phase}})
}

func (p *tape) fault(id string, f record.Fault) int64 {
	return p.add(record.Event{Kind: record.Faulted, Server: id, Fault: &f})
}

func TestTheLifeOfAServer(t *testing.T) {
	t.Parallel()
	p := &tape{}
	born := p.born("flaky#2", "flaky", "s1", 2)
	ready := p.is(record.Ready, "flaky#2")
	p.rpc("flaky#2", "initialize", "0", "", "received")
	p.rpc("flaky#2", "initialize", "0", "", "refused")
	p.rpc("flaky#2", "initialize", "1", "", "received")
	established := p.rpc("flaky#2", "initialize", "1", "", "answered")
	p.rpc("flaky#2", "initialize", "2", "", "answered")
	first := p.rpc("flaky#2", "tools/call", "3", "sleep", "received")
	second := p.rpc("flaky#2", "tools/call", "4", "echo", "received")
	answered := p.rpc("flaky#2", "tools/call", "4", "echo", "answered")
	p.fault("flaky#2", record.Fault{On: "eof", Do: "ignore", Passive: true})
	broken := p.fault("flaky#2", record.Fault{On: "order", Do: "hang", Breaks: true})
	p.fault("flaky#2", record.Fault{On: "order", Do: "close-stdout", Breaks: true})
	hup := p.signal("flaky#2", "SIGHUP")
	term := p.signal("flaky#2", "SIGTERM")
	p.signal("flaky#2", "SIGTERM")
	eof := p.is(record.SawEOF, "flaky#2")
	p.is(record.SawEOF, "flaky#2")
	bye := p.is(record.Bye, "flaky#2")
	died := p.is(record.Died, "flaky#2")

	s := of(p.events).Server("flaky#2")
	require.NotNil(t, s)
	assert.Equal(t, Server{
		ID: "flaky#2", Label: "flaky", Session: "s1", Launch: 2, Birth: *p.events[0].Birth, Life: 1,
		Times: Times{
			Born: born, Ready: ready, Established: established, Working: first, EOF: eof, Term: term, Bye: bye, Died: died, Lost: Never,
			Broken: broken, Heard: born,
		},
		Signals: []SignalMark{{T: hup, Text: "SIGHUP"}, {T: term, Text: "SIGTERM"}, {T: term + 1, Text: "SIGTERM"}},
		Faults: []FaultMark{
			{broken - 1, record.Fault{On: "eof", Do: "ignore", Passive: true}},
			{broken, record.Fault{On: "order", Do: "hang", Breaks: true}},
			{broken + 1, record.Fault{On: "order", Do: "close-stdout", Breaks: true}},
		},
		Calls:   []Call{{Tool: "sleep", ID: "3", Received: first, Answered: Never}, {Tool: "echo", ID: "4", Received: second, Answered: answered}},
		LastRPC: record.RPCInfo{Method: "tools/call", ID: "4", Tool: "echo", Phase: "answered"},
		Inits:   2, held: true, reads: ready,
	}, *s)
}

// TestWhatWaitedForItsReader: a message that a server finds when it can read again says only that it was written before.
func TestWhatWaitedForItsReader(t *testing.T) {
	t.Parallel()
	const ms = int64(time.Millisecond)
	s := &Server{Times: Times{Born: 10 * ms, Ready: Never, Heard: Never, EOF: Never}, held: true}
	is := func(at int64, kind record.Kind, want int64) {
		t.Helper()
		e := record.Event{Kind: kind, T: at, RPC: &record.RPCInfo{}, Fault: &record.Fault{Do: "delay"}}
		s.apply(&e)
		assert.Equal(t, want, s.Heard)
	}
	is(400*ms, record.Ready, Never)
	is(401*ms, record.RPC, 10*ms)
	is(440*ms, record.RPC, 10*ms)
	is(460*ms, record.RPC, 460*ms)
	is(470*ms, record.Faulted, 460*ms)
	is(800*ms, record.RPC, 460*ms) // the answer that was delayed,
	is(802*ms, record.RPC, 460*ms)
	is(900*ms, record.RPC, 900*ms)
	s.apply(&record.Event{Kind: record.Faulted, T: 900 * ms, Fault: &record.Fault{Do: "helper"}})
	is(5000*ms, record.RPC, 5000*ms)
	s.apply(&record.Event{Kind: record.Faulted, T: 5001 * ms, Fault: &record.Fault{Do: "ignore", Passive: true}})
	is(5010*ms, record.RPC, 5010*ms)
	s.apply(&record.Event{Kind: record.SawSignal, T: 5011 * ms, Signal: "SIGTERM"})
	is(5020*ms, record.RPC, 5010*ms)
}

func TestAServerOfTheNewerEraIsEstablishedByDiscover(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("s#1", "s", "", 1)
	p.rpc("s#1", "server/discover", "0", "", "received")
	at := p.rpc("s#1", "server/discover", "0", "", "answered")
	s := of(p.events).Server("s#1")
	assert.Equal(t, at, s.Established)
	assert.Equal(t, 1, s.Inits)
}

func TestARefusedCallIsAnswered(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("s#1", "s", "", 1)
	p.rpc("s#1", "tools/call", "7", "echo", "received")
	at := p.rpc("s#1", "tools/call", "7", "", "refused")
	p.rpc("s#1", "tools/call", "7", "echo", "received") // an id may come again once it is answered
	p.rpc("s#1", "tools/call", "7", "echo", "answered")
	p.rpc("s#1", "tools/call", "9", "echo", "answered") // it was never received
	calls := of(p.events).Server("s#1").Calls
	assert.Equal(t, []Call{{Tool: "echo", ID: "7", Received: at - 1, Answered: at}, {Tool: "echo", ID: "7", Received: at + 1, Answered: at + 2}}, calls)
}

func TestANewServerHasNoTimesButItsBirth(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("s#1", "s", "", 1)
	s := *of(p.events).Server("s#1")
	for name, at := range map[string]int64{
		"ready": s.Ready, "established": s.Established, "eof": s.EOF, "term": s.Term, "bye": s.Bye,
		"died": s.Died, "lost": s.Lost, "broken": s.Broken, "last rpc": s.Heard,
	} {
		assert.Equal(t, Never, at, name)
	}
}

func TestServersAreInTheOrderOfTheirBirths(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("b#1", "b", "", 1)
	p.born("a#1", "a", "", 1)
	p.born("b#2", "b", "", 2)
	p.born("c#1", "c", "", 1)
	p.is(record.Died, "a#1")
	p.is(record.Bye, "b#1")  // it goes, but it is not gone
	p.is(record.Lost, "c#1") // nothing is known of it
	l := of(p.events)
	assert.Equal(t, []string{"b#1", "a#1", "b#2", "c#1"}, ids(l.Servers()))
	assert.Equal(t, []string{"b#1", "b#2"}, ids(l.Alive()))
	assert.Nil(t, l.Server("d#1"))
	l.Servers()[0] = nil
	assert.NotNil(t, l.Servers()[0], "callers get a slice of their own")
}

func ids(servers []*Server) []string {
	out := []string{}
	for _, s := range servers {
		out = append(out, s.ID)
	}
	return out
}

func TestCountsAndPeak(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "", 1)
	p.born("b#1", "b", "", 1)
	p.born("a#2", "a", "", 2)
	p.is(record.Died, "a#1")
	p.is(record.Died, "a#1")
	p.is(record.Lost, "a#2")
	p.is(record.Died, "a#2") // it was lost: it is not counted out twice
	p.born("a#3", "a", "", 3)
	l := of(p.events)
	assert.Equal(t, 3, l.PeakLive())
	assert.Equal(t, []CountPoint{{1, "a", 1}, {2, "b", 1}, {3, "a", 2}, {4, "a", 1}, {6, "a", 0}, {8, "a", 1}}, l.Counts())
}

func TestSessions(t *testing.T) {
	t.Parallel()
	p := &tape{}
	change := func(s record.Session) int64 {
		return p.add(record.Event{Kind: record.SessionChanged, Session: &s})
	}
	first := record.Session{Name: "s1", Label: "a", State: record.SessionOpening}
	second := record.Session{Name: "s1", Label: "a", State: record.SessionEnding, Cut: true, Why: "cancel"}
	other := record.Session{Name: "s1", Label: "b", State: record.SessionOpen}
	at := []int64{change(first), change(other), change(second)}
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 7}}})
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
	l := of(p.events)
	assert.Equal(t, []*Session{
		{Name: "s1", Label: "a", State: record.SessionEnding, Changes: []SessionChange{{at[0], first}, {at[2], second}}},
		{Name: "s1", Label: "b", State: record.SessionOpen, Changes: []SessionChange{{at[1], other}}},
	}, l.Sessions())
	assert.Equal(t, []*Host{{N: 1, Identity: record.Identity{PID: 7}, Started: 4, Exited: 5, AskedAt: Never}}, l.Hosts())
	assert.Empty(t, New("").Hosts())
}

// While a run runs, what is odd is left out, and the rest counts.
func TestOddEventsChangeNothing(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.is(record.Died, "a#1") // before it was born
	p.is(record.Born, "a#2") // without a certificate
	p.add(record.Event{Kind: record.SessionChanged})
	p.born("a#1", "a", "", 1)
	p.born("a#1", "other", "", 9) // twice
	p.is(record.RPC, "a#1")
	p.is(record.Faulted, "a#1")
	p.is("comet", "a#1")
	l := New("")
	for _, e := range p.events {
		l.Apply(e)
	}
	require.Equal(t, []string{"a#1"}, ids(l.Alive()))
	s := l.Server("a#1")
	assert.Equal(t, "a", s.Label)
	assert.Empty(t, s.Faults)
	assert.Equal(t, Never, s.Heard)
	assert.Empty(t, l.Sessions())
}

// TestARaceBehindAGateway: its servers say whose they are once they shake
// hands, and are rivals all the same; one that does so later is none.
func TestARaceBehindAGateway(t *testing.T) {
	t.Parallel()
	l := New("")
	now := int64(0)
	apply := func(e record.Event) { now++; e.T = now; l.Apply(e) }
	open := func(kind record.Kind) {
		apply(record.Event{Kind: kind, Step: &record.Step{Op: "open", Label: "a", Session: "s"}})
	}
	birth := func(id string, n int) {
		apply(record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{Identity: record.Identity{PID: n, Start: 1}, Label: "a", Launch: n}})
	}
	shake := func(id string) {
		apply(record.Event{Kind: record.RPC, Server: id, RPC: &record.RPCInfo{Method: "initialize", Phase: "received", Session: "s", Own: true}})
	}
	open(record.StepBegun)
	open(record.StepBegun)
	birth("a#1", 1)
	birth("a#2", 2)
	assert.False(t, Rivals(l.Server("a#1"), l.Server("a#2")), "nobody knows yet whose they are")
	shake("a#2")
	shake("a#1")
	assert.True(t, Rivals(l.Server("a#1"), l.Server("a#2")))
	open(record.StepEnded)
	open(record.StepEnded)
	birth("a#3", 3)
	shake("a#3")
	assert.False(t, Rivals(l.Server("a#3"), l.Server("a#1")))
}

// TestKeptOnPurpose: of each label as many servers as the profile says, those of sessions that are over before those of sessions that
// were opened again.
func TestKeptOnPurpose(t *testing.T) {
	t.Parallel()
	p := &tape{}
	change := func(label, name string, state record.SessionState, why record.Why) {
		p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: name, Label: label, State: state, Why: why}})
	}
	opened := func(label, name string) {
		change(label, name, record.SessionOpening, "")
		change(label, name, record.SessionOpen, "")
	}
	closed := func(label, name string) { change(label, name, record.SessionEnded, record.WhyClose) }
	opened("x", "b")
	closed("x", "b")
	for range 3 {
		opened("x", "a")
		closed("x", "a")
	}
	opened("x", "c")
	closed("x", "c")
	opened("x", "c")                                           // open, after a close
	opened("x", "r")                                           // reconnected: that is no end
	opened("x", "r")                                           //
	change("x", "f", record.SessionOpening, "")                // never opened,
	change("x", "f", record.SessionEnded, record.WhyNotOpened) // and over
	change("x", "g", record.SessionEnded, record.WhyNotOpened) // the same,
	opened("x", "g")                                           // and open now
	opened("y", "other")                                       //
	closed("y", "other")                                       //
	for n, want := range map[int]map[string]int{
		0: {},
		1: {"f": 1, "other": 1},
		2: {"f": 1, "a": 1, "other": 1},
		3: {"f": 1, "a": 1, "b": 1, "other": 1},
		4: {"f": 1, "a": 1, "b": 1, "c": 1, "other": 1},
		9: {"f": 1, "a": 3, "b": 1, "c": 1, "other": 1},
	} {
		assert.Equal(t, want, of(p.events).Kept(n), n)
	}
	p.born("y#1", "y", "other", 1)
	opened("y", "later")
	p.born("y#2", "y", "later", 2)
	p.is(record.Died, "y#2")
	closed("y", "later")
	assert.Equal(t, map[string]int{"f": 1, "other": 1}, of(p.events).Kept(1), "what has ended takes nobody's place")
}
