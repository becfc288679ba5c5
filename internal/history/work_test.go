package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestSilentDeaths: a server that was told of its end in any way has not died without a word.
func TestSilentDeaths(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		course func(p *tape)
		silent bool
	}{
		"it lives":                {func(*tape) {}, false},
		"it died":                 {func(p *tape) { p.is(record.Died, "a#1") }, true},
		"at the end of its stdin": {func(p *tape) { p.is(record.SawEOF, "a#1"); p.is(record.Died, "a#1") }, false},
		"by a signal":             {func(p *tape) { p.signal("a#1", "SIGTERM"); p.is(record.Died, "a#1") }, false},
		"by itself":               {func(p *tape) { p.is(record.Bye, "a#1"); p.is(record.Died, "a#1") }, false},
		"it is lost":              {func(p *tape) { p.is(record.Lost, "a#1") }, false},
	} {
		p := &tape{}
		p.born("a#1", "a", "s", 1)
		c.course(p)
		assert.Equal(t, c.silent, of(p.events).Server("a#1").Silent(), name)
	}
}

// TestWhoWorked: a call counts where it was received after one time and answered by another.
func TestWhoWorked(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "s", 1)
	received := p.rpc("a#1", record.MethodCall, "1", "echo", record.PhaseReceived)
	p.is(record.Ready, "a#1")
	answered := p.rpc("a#1", record.MethodCall, "1", "echo", record.PhaseAnswered)
	open := p.rpc("a#1", record.MethodCall, "2", "echo", record.PhaseReceived)
	s := of(p.events).Server("a#1")
	assert.True(t, s.Worked(received-1, answered))
	assert.False(t, s.Worked(received, answered), "it was received before")
	assert.False(t, s.Worked(received-1, answered-1), "it was answered later")
	assert.False(t, s.Worked(open-1, open+100), "it was not answered")
}

// TestKeepsWaiting: only a fault of the handshake has a server that has not answered it yet do something else.
func TestKeepsWaiting(t *testing.T) {
	t.Parallel()
	for on, waits := range map[record.Moment]bool{record.OnInitialize: true, record.OnDiscover: true, record.OnOrder: false} {
		p := &tape{}
		p.born("a#1", "a", "s", 1)
		assert.False(t, of(p.events).Server("a#1").KeepsWaiting(), "without a fault")
		p.fault("a#1", record.Fault{On: on, Do: "delay"})
		assert.Equal(t, waits, of(p.events).Server("a#1").KeepsWaiting(), on)
		p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
		assert.False(t, of(p.events).Server("a#1").KeepsWaiting(), "%s, and it has answered", on)
	}
}

// TestIsHeldUp: a fault of the list holds a client up before its first call, too, and it counts when it is over.
func TestIsHeldUp(t *testing.T) {
	t.Parallel()
	for on, held := range map[record.Moment]bool{
		record.OnInitialize: true, record.OnDiscover: true, record.OnList: true, record.OnOrder: false,
	} {
		p := &tape{}
		p.born("a#1", "a", "s", 1)
		assert.False(t, of(p.events).Server("a#1").IsHeldUp(), "without a fault")
		p.fault("a#1", record.Fault{On: on, Do: "delay"})
		p.rpc("a#1", record.MethodInitialize, "1", "", record.PhaseAnswered)
		assert.Equal(t, held, of(p.events).Server("a#1").IsHeldUp(), on)
	}
}

// TestCountCalls counts those of one tool that all servers of one session have received.
func TestCountCalls(t *testing.T) {
	t.Parallel()
	p := &tape{}
	for i, session := range []string{"s", "s", "t"} {
		id := []string{"a#1", "a#2", "a#3"}[i]
		p.born(id, "a", session, i+1)
		p.rpc(id, record.MethodCall, "1", "echo", record.PhaseReceived)
	}
	p.rpc("a#2", record.MethodCall, "2", "echo", record.PhaseReceived)
	p.rpc("a#2", record.MethodCall, "3", "sleep", record.PhaseReceived)
	h := of(p.events)
	assert.Equal(t, []int{3, 1, 1, 0, 0}, []int{
		h.CountCalls("s", "echo"), h.CountCalls("s", "sleep"), h.CountCalls("t", "echo"), h.CountCalls("t", "sleep"), h.CountCalls("u", "echo"),
	})
}

// TestFromWhenOnAServerIsUsed: from the client's first word after the handshake was answered, or from the answer that needs none.
func TestFromWhenOnAServerIsUsed(t *testing.T) {
	t.Parallel()
	const answered, received = record.PhaseAnswered, record.PhaseReceived
	type word struct {
		method record.Method
		phase  record.Phase
	}
	for name, c := range map[string]struct {
		words []word
		at    int // which of the words it is, or -1
	}{
		"the handshake alone":            {[]word{{record.MethodInitialize, received}, {record.MethodInitialize, answered}}, -1},
		"asked before it was answered":   {[]word{{record.MethodCall, received}, {record.MethodInitialize, answered}}, -1},
		"a second handshake":             {[]word{{record.MethodInitialize, answered}, {record.MethodInitialize, received}}, -1},
		"an answer is none of its words": {[]word{{record.MethodInitialize, answered}, {record.MethodCall, answered}}, -1},
		"a call": {[]word{
			{record.MethodInitialize, answered}, {record.MethodCall, received}, {record.MethodCall, received},
		}, 1},
		"an answered discover needs none":  {[]word{{record.MethodDiscover, received}, {record.MethodDiscover, answered}}, 1},
		"a discover that was not answered": {[]word{{record.MethodDiscover, received}, {record.MethodDiscover, "refused"}}, -1},
	} {
		p := &tape{}
		first := p.born("a#1", "a", "s", 1) + 1
		for _, w := range c.words {
			p.rpc("a#1", w.method, "1", "", w.phase)
		}
		want := Never
		if c.at >= 0 {
			want = first + int64(c.at)
		}
		assert.Equal(t, want, of(p.events).Server("a#1").Working, name)
	}
}

// TestWordsDoNotMoveAServer: what it says later changes neither how many live nor which race it was launched in.
func TestWordsDoNotMoveAServer(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.born("a#1", "a", "s", 1) // before the race
	p.step(record.StepBegun, record.Step{N: 1, Op: record.OpOpen, Label: "a", Session: "s"})
	p.step(record.StepBegun, record.Step{N: 2, Op: record.OpOpen, Label: "a", Session: "s"})
	p.born("a#2", "a", "s", 2)
	p.is(record.Ready, "a#1")
	p.is(record.SawEOF, "a#1")
	h := of(p.events)
	assert.False(t, Rivals(h.Server("a#1"), h.Server("a#2")))
	assert.Equal(t, []CountPoint{{1, "a", 1}, {4, "a", 2}}, h.Counts())
}

// TestAJobsServer: of a host whose sessions are unknown, a newer server that worked and was ended in order may have been that of a job,
// so the older one may stay. Whatever ended in another way was the newest one.
func TestAJobsServer(t *testing.T) {
	t.Parallel()
	call := func(p *tape) { p.rpc("a#2", record.MethodCall, "1", "echo", record.PhaseReceived) }
	end := func(p *tape) { p.is(record.SawEOF, "a#2"); p.is(record.Died, "a#2") }
	for name, c := range map[string]struct {
		course func(p *tape)
		want   record.Want
		extra  []string
	}{
		"ended in order":      {func(p *tape) { call(p); end(p) }, atMost(want("a", 1)), []string{}},
		"a number is wanted":  {func(p *tape) { call(p); end(p) }, want("a", 1), []string{"a#1"}},
		"killed":              {func(p *tape) { call(p); p.is(record.Died, "a#2") }, atMost(want("a", 1)), []string{"a#1"}},
		"signalled":           {func(p *tape) { call(p); p.signal("a#2", "SIGTERM"); end(p) }, atMost(want("a", 1)), []string{"a#1"}},
		"told to end, and up": {func(p *tape) { call(p); p.is(record.SawEOF, "a#2") }, atMost(want("a", 1)), []string{"a#1"}},
		"broken before": {func(p *tape) {
			call(p)
			p.fault("a#2", record.Fault{On: record.OnOrder, Do: "hang", Breaks: true})
			end(p)
		}, atMost(want("a", 1)), []string{"a#1"}},
	} {
		p := &tape{}
		for n, id := range []string{"a#1", "a#2"} {
			p.born(id, "a", "", n+1)
			p.rpc(id, record.MethodInitialize, "1", "", record.PhaseAnswered)
		}
		c.course(p)
		extra, _ := of(p.events).Reconcile([]record.Want{c.want})
		assert.Equal(t, c.extra, ids(extra), name)
	}
	extra, _ := servers("a mute", "a mute done").Reconcile([]record.Want{atMost(want("a", 1))})
	assert.Equal(t, []string{"a#1"}, ids(extra), "who never shook hands did no job")
}
