package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// servers makes lives from words in the order of births: "flaky/s1 dead",
// with label, session and what became of it. A server is established unless
// the words say "mute".
func servers(words ...string) *History {
	p := &tape{}
	launches := map[string]int{}
	for _, w := range words {
		fields := strings.Fields(w)
		label, session, _ := strings.Cut(fields[0], "/")
		launches[label]++
		id := fmt.Sprintf("%s#%d", label, launches[label])
		p.born(id, label, session, launches[label])
		if !slices.Contains(fields, "mute") {
			p.rpc(id, "initialize", "0", "", "answered")
		}
		if slices.Contains(fields, "asked") {
			p.rpc(id, "initialize", "0", "", "received")
		}
		if slices.Contains(fields, "done") {
			p.is(record.SawEOF, id)
			p.is(record.Died, id)
		}
		if slices.Contains(fields, "dead") {
			p.is(record.Died, id)
		}
		if slices.Contains(fields, "broken") {
			p.add(record.Event{Kind: record.Faulted, Server: id, Fault: &record.Fault{On: "order", Do: "hang", Breaks: true}})
		}
		if slices.Contains(fields, "lost") {
			p.is(record.Lost, id)
		}
	}
	return of(p.events)
}

func want(label string, live int) record.Want { return record.Want{Label: label, Live: live} }

func wantOf(label, session string, live int) record.Want {
	return record.Want{Label: label, Session: session, Live: live}
}

func atMost(w record.Want) record.Want {
	w.AtMost = true
	return w
}

func spare(w record.Want, n int) record.Want {
	w.Spare = n
	return w
}

func TestJudge(t *testing.T) {
	t.Parallel()
	type wants = []record.Want
	for name, tt := range map[string]struct {
		servers []string
		wants   wants
		extra   []string
		missing wants
	}{
		"nothing, and nothing wanted":            {},
		"the one that is wanted":                 {[]string{"a"}, wants{want("a", 1)}, nil, nil},
		"an old one is left":                     {[]string{"a", "a"}, wants{want("a", 1)}, []string{"a#1"}, nil},
		"an old one went":                        {[]string{"a dead", "a"}, wants{want("a", 1)}, nil, nil},
		"the new one killed, the old one kept":   {[]string{"a", "a dead"}, wants{want("a", 1)}, []string{"a#1"}, wants{want("a", 1)}},
		"the middle one killed":                  {[]string{"a", "a dead", "a"}, wants{want("a", 2)}, []string{"a#1"}, wants{want("a", 1)}},
		"the newest two":                         {[]string{"a", "a", "a"}, wants{want("a", 2)}, []string{"a#1"}, nil},
		"all dead":                               {[]string{"a dead", "a dead"}, wants{want("a", 2)}, nil, wants{want("a", 2)}},
		"fewer were born than wanted":            {[]string{"a"}, wants{want("a", 3)}, nil, wants{want("a", 2)}},
		"none were born":                         {nil, wants{want("a", 1)}, nil, wants{want("a", 1)}},
		"none wanted":                            {[]string{"a", "a dead", "a"}, wants{want("a", 0)}, []string{"a#1", "a#3"}, nil},
		"no wants at all":                        {[]string{"a", "b dead", "c/s"}, nil, []string{"a#1", "c#1"}, nil},
		"a label without a want":                 {[]string{"a", "b"}, wants{want("a", 1)}, []string{"b#1"}, nil},
		"a negative want is none":                {[]string{"a"}, wants{want("a", -1)}, []string{"a#1"}, nil},
		"at most, with less":                     {[]string{"a dead"}, wants{atMost(want("a", 1))}, nil, nil},
		"at most, with none born":                {nil, wants{atMost(want("a", 2))}, nil, nil},
		"at most, with more":                     {[]string{"a", "a"}, wants{atMost(want("a", 1))}, []string{"a#1"}, nil},
		"at most, the old one kept":              {[]string{"a", "a dead"}, wants{atMost(want("a", 1))}, []string{"a#1"}, nil},
		"at most, a newer one has done its job":  {[]string{"a", "a done"}, wants{atMost(want("a", 1))}, nil, nil},
		"at most, an older one has done its job": {[]string{"a done", "a", "a"}, wants{atMost(want("a", 1))}, []string{"a#2"}, nil},
		"a stillborn one is newer":               {[]string{"a", "a mute dead"}, wants{want("a", 1)}, nil, nil},
		"a stillborn one is left":                {[]string{"a", "a mute"}, wants{want("a", 1)}, []string{"a#2"}, nil},
		"a stillborn one is older and left":      {[]string{"a mute", "a"}, wants{want("a", 1)}, []string{"a#1"}, nil},
		"a stillborn one fills up":               {[]string{"a", "a mute"}, wants{want("a", 2)}, nil, nil},
		"only the newest of the stillborn":       {[]string{"a mute", "a mute"}, wants{want("a", 1)}, []string{"a#1"}, nil},
		"a stillborn one is no established one":  {[]string{"a dead", "a mute"}, wants{want("a", 1)}, []string{"a#2"}, wants{want("a", 1)}},
		"each session has its own newest":        {[]string{"a/s", "a/t", "a/s", "a/t"}, wants{wantOf("a", "s", 1), wantOf("a", "t", 1)}, []string{"a#1", "a#2"}, nil},
		"a session does not make up for another": {[]string{"a/s", "a/s", "a/t dead"}, wants{wantOf("a", "s", 1), wantOf("a", "t", 1)}, []string{"a#1"}, wants{wantOf("a", "t", 1)}},
		"a session that ended":                   {[]string{"a/s", "a/t"}, wants{wantOf("a", "s", 0), wantOf("a", "t", 1)}, []string{"a#1"}, nil},
		"a session that no want covers":          {[]string{"a/s", "a/t"}, wants{wantOf("a", "s", 1)}, []string{"a#2"}, nil},
		"a server without its session":           {[]string{"a/s", "a"}, wants{wantOf("a", "s", 1)}, []string{"a#2"}, nil},
		"the same session of another label":      {[]string{"a/s", "b/s"}, wants{wantOf("a", "s", 1)}, []string{"b#1"}, nil},
		"label-wide covers the sessions":         {[]string{"a/s", "a/t", "a"}, wants{want("a", 3)}, nil, nil},
		"label-wide, the newest of all sessions": {[]string{"a/s", "a/t", "a"}, wants{want("a", 2)}, []string{"a#1"}, nil},
		"label-wide covers the rest":             {[]string{"a/s", "a/t", "a/u", "a/s"}, wants{want("a", 2), wantOf("a", "s", 1)}, []string{"a#1"}, nil},
		"the rest is not filled by a session":    {[]string{"a/t dead", "a/s"}, wants{want("a", 1), wantOf("a", "s", 1)}, nil, wants{want("a", 1)}},
		"a session is not filled by the rest":    {[]string{"a/s dead", "a/t"}, wants{want("a", 1), wantOf("a", "s", 1)}, nil, wants{wantOf("a", "s", 1)}},
		"missing keeps the order of the wants": {
			nil,
			wants{want("b", 1), wantOf("a", "s", 2), want("a", 1), wantOf("c", "s", 1)},
			nil,
			wants{want("b", 1), wantOf("a", "s", 2), want("a", 1), wantOf("c", "s", 1)},
		},
		"extra is in the order of births":   {[]string{"b", "a", "b", "a"}, wants{want("a", 1), want("b", 1)}, []string{"b#1", "a#1"}, nil},
		"a spare one":                       {[]string{"a/s"}, wants{spare(wantOf("a", "s", 0), 1)}, nil, nil},
		"a spare one need not be there":     {[]string{"a/s dead"}, wants{spare(wantOf("a", "s", 0), 1)}, nil, nil},
		"no more than the spare ones":       {[]string{"a/s", "a/s", "a/s"}, wants{spare(wantOf("a", "s", 1), 1)}, []string{"a#1"}, nil},
		"a dead one takes no spare place":   {[]string{"a/s", "a/s dead"}, wants{spare(wantOf("a", "s", 0), 1)}, nil, nil},
		"a session's spare one is its own":  {[]string{"a/s", "a/t"}, wants{spare(wantOf("a", "s", 1), 1)}, []string{"a#2"}, nil},
		"a spare one makes up for none":     {[]string{"a/s", "a/s dead"}, wants{spare(wantOf("a", "s", 1), 1)}, nil, wants{spare(wantOf("a", "s", 1), 1)}},
		"a spare one has been established":  {[]string{"a/s mute"}, wants{spare(wantOf("a", "s", 0), 1)}, []string{"a#1"}, nil},
		"a spare one is not broken":         {[]string{"a/s", "a/s broken"}, wants{spare(wantOf("a", "s", 0), 1)}, []string{"a#2"}, nil},
		"a negative number of spares":       {[]string{"a"}, wants{spare(want("a", 0), -1)}, []string{"a#1"}, nil},
		"a spare one of any session":        {[]string{"a/s", "a/s"}, wants{wantOf("a", "s", 1), spare(want("a", 0), 1)}, nil, nil},
		"a spare one of one that has ended": {[]string{"a/s", "a/t"}, wants{wantOf("a", "s", 0), wantOf("a", "t", 1), spare(want("a", 0), 1)}, nil, nil},
		"one spare one for all sessions":    {[]string{"a/s", "a/s", "a/t", "a/t"}, wants{wantOf("a", "s", 1), wantOf("a", "t", 1), spare(want("a", 0), 1)}, []string{"a#1"}, nil},
		"a spare one of another label":      {[]string{"a/s", "b/s"}, wants{wantOf("a", "s", 1), spare(want("a", 0), 1)}, []string{"b#1"}, nil},
		"a spare one is no session's":       {[]string{"a/s dead", "a/t"}, wants{wantOf("a", "s", 1), spare(want("a", 0), 1)}, nil, wants{wantOf("a", "s", 1)}},
		"a spare one that is not asked yet": {[]string{"a/s", "a mute"}, wants{wantOf("a", "s", 1), spare(want("a", 0), 1)}, nil, nil},
		"a spare one that does not answer":  {[]string{"a/s", "a mute asked"}, wants{wantOf("a", "s", 1), spare(want("a", 0), 1)}, []string{"a#2"}, nil},
		"a spare one that broke unasked":    {[]string{"a/s", "a mute broken"}, wants{wantOf("a", "s", 1), spare(want("a", 0), 1)}, []string{"a#2"}, nil},
		"a lost one is neither":             {[]string{"a lost"}, wants{want("a", 1)}, nil, nil},
		"a lost one that is old":            {[]string{"a lost", "a"}, wants{want("a", 1)}, nil, nil},
		"a lost one that is new":            {[]string{"a", "a lost"}, wants{want("a", 1)}, []string{"a#1"}, nil},
		"a lost one does not hide dead one": {[]string{"a dead", "a lost"}, wants{want("a", 2)}, nil, wants{want("a", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := servers(tt.servers...)
			given := slices.Clone(tt.wants)
			extra, missing := l.Reconcile(tt.wants)
			assert.Equal(t, append([]string{}, tt.extra...), ids(extra))
			assert.Equal(t, tt.missing, missing)
			assert.Equal(t, given, tt.wants, "the wants are not changed")
			again, _ := l.Reconcile(tt.wants)
			assert.Equal(t, extra, again, "nor are the lives")
		})
	}
}

// What Judge says must not depend on what it was asked before, nor on the
// order of the wants.
func TestJudgeDoesNotMindTheOrderOfTheWants(t *testing.T) {
	t.Parallel()
	l := servers("a/s", "a/t", "b", "a/s dead", "a", "b mute", "c/s lost")
	wants := []record.Want{want("a", 2), wantOf("a", "s", 1), atMost(want("b", 1)), wantOf("c", "s", 1)}
	extra, missing := l.Reconcile(wants)
	slices.Reverse(wants)
	extraOf, missingOf := l.Reconcile(wants)
	assert.Equal(t, ids(extra), ids(extraOf))
	assert.ElementsMatch(t, missing, missingOf)
	assert.Equal(t, []string{"a#1", "b#2"}, ids(extra))
	assert.Equal(t, []record.Want{wantOf("a", "s", 1)}, missing)
}

// TestJudgeOfARace: of servers that opens of one session have launched side by
// side any one may stay, but only one; others have to be the newest as ever.
func TestJudgeOfARace(t *testing.T) {
	t.Parallel()
	open := func(p *tape, kind record.Kind, session string) {
		p.add(record.Event{Kind: kind, Step: &record.Step{Op: "open", Label: "a", Session: session}})
	}
	launch := func(p *tape, launch int, session string, dies bool) {
		id := fmt.Sprintf("a#%d", launch)
		p.born(id, "a", session, launch)
		p.rpc(id, "initialize", "0", "", "answered")
		if dies {
			p.is(record.Died, id)
		}
	}
	for name, tt := range map[string]struct {
		begun   int // opens under way when the last two are launched; the first launch is before the second open
		dies    [3]bool
		extra   int
		missing int
	}{
		"the newest stays":                   {2, [3]bool{true, true, false}, 0, 0},
		"the one in the middle stays":        {2, [3]bool{true, false, true}, 0, 0},
		"the oldest stays":                   {2, [3]bool{false, true, true}, 0, 0},
		"two stay":                           {2, [3]bool{true, false, false}, 1, 0},
		"all stay":                           {2, [3]bool{}, 2, 0},
		"none stays":                         {2, [3]bool{true, true, true}, 0, 1},
		"no race: the oldest may not stay":   {1, [3]bool{false, true, true}, 1, 1},
		"no race: the newest is the session": {1, [3]bool{true, true, false}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &tape{}
			open(p, record.StepBegun, "s")
			launch(p, 1, "s", tt.dies[0])
			if tt.begun == 1 {
				open(p, record.StepEnded, "s")
			}
			open(p, record.StepBegun, "s")
			launch(p, 2, "s", tt.dies[1])
			launch(p, 3, "s", tt.dies[2])
			open(p, record.StepEnded, "s")
			open(p, record.StepEnded, "s")
			l := of(p.events)
			extra, missing := l.Reconcile([]record.Want{wantOf("a", "s", 1)})
			assert.Len(t, extra, tt.extra)
			assert.Len(t, missing, tt.missing)
			first, last := l.Server("a#1"), l.Server("a#3")
			assert.Equal(t, tt.begun == 2, Rivals(first, last))
			assert.False(t, Rivals(last, last))
			// A later open is no part of the race.
			open(p, record.StepBegun, "s")
			launch(p, 4, "s", false)
			l = of(p.events)
			assert.False(t, Rivals(l.Server("a#4"), l.Server("a#3")))
		})
	}
}

// TestProbes: one that was ended in order beside the session's own server, and
// never asked for work, does not take its place.
func TestProbes(t *testing.T) {
	t.Parallel()
	works := func(p *tape, id string) {
		p.rpc(id, "tools/call", "7", "echo", "received")
		p.rpc(id, "tools/call", "7", "echo", "answered")
	}
	for name, tt := range map[string]struct {
		course func(p *tape)
		probe  bool
	}{
		"ended in order":                      {func(p *tape) { p.is(record.SawEOF, "a#2"); p.is(record.Died, "a#2") }, true},
		"not ended":                           {func(*tape) {}, false},
		"told, and alive":                     {func(p *tape) { p.is(record.SawEOF, "a#2") }, false},
		"killed":                              {func(p *tape) { p.is(record.Died, "a#2") }, false},
		"killed, and the older one works on":  {func(p *tape) { p.is(record.Died, "a#2"); works(p, "a#1") }, true},
		"killed, and nothing works on":        {func(p *tape) { p.is(record.Died, "a#2"); p.is(record.Died, "a#1") }, false},
		"killed, the older one worked before": {func(p *tape) { works(p, "a#1"); p.is(record.Died, "a#2") }, false},
		"signalled, and the older one works on": {func(p *tape) {
			p.signal("a#2", "SIGTERM")
			works(p, "a#1")
			p.is(record.Died, "a#2")
		}, true},
		"worked, killed, and the older one works on": {func(p *tape) { works(p, "a#2"); p.is(record.Died, "a#2"); works(p, "a#1") }, false},
		"signalled first": {func(p *tape) { p.signal("a#2", "SIGTERM"); p.is(record.SawEOF, "a#2"); p.is(record.Died, "a#2") }, false},
		"signalled later": {func(p *tape) { p.is(record.SawEOF, "a#2"); p.signal("a#2", "SIGTERM"); p.is(record.Died, "a#2") }, true},
		"asked for work": {func(p *tape) {
			p.rpc("a#2", "tools/call", "1", "echo", "received")
			p.is(record.SawEOF, "a#2")
			p.is(record.Died, "a#2")
		}, false},
		"beside a dead one": {func(p *tape) { p.is(record.Died, "a#1"); p.is(record.SawEOF, "a#2"); p.is(record.Died, "a#2") }, false},
		"with the older":    {func(p *tape) { p.is(record.SawEOF, "a#1"); p.is(record.SawEOF, "a#2"); p.is(record.Died, "a#2") }, false},
		"beside a broken one": {func(p *tape) {
			p.fault("a#1", record.Fault{On: record.OnOrder, Do: record.DoExit, Breaks: true})
			p.is(record.SawEOF, "a#2")
			p.is(record.Died, "a#2")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &tape{}
			p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: record.SessionOpening}})
			p.born("a#1", "a", "s", 1)
			p.rpc("a#1", "initialize", "0", "", "answered")
			p.born("a#2", "a", "s", 2)
			p.rpc("a#2", "initialize", "0", "", "answered")
			tt.course(p)
			h := of(p.events)
			assert.Equal(t, tt.probe, h.Probe(h.Server("a#2")))
			assert.False(t, h.Probe(h.Server("a#1")))
			extra, missing := h.Reconcile([]record.Want{wantOf("a", "s", 1)})
			if tt.probe {
				assert.Empty(t, extra)
				assert.Empty(t, missing)
			}
		})
	}
	p := &tape{}
	p.born("a#1", "a", "s", 1)
	p.rpc("a#1", "initialize", "0", "", "answered")
	p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: record.SessionOpening}})
	p.born("a#2", "a", "s", 2)
	p.rpc("a#2", "initialize", "0", "", "answered")
	p.is(record.SawEOF, "a#2")
	p.is(record.Died, "a#2")
	h := of(p.events)
	assert.False(t, h.Probe(h.Server("a#2")), "the session was opened anew: it is the session's own")
	extra, missing := h.Reconcile([]record.Want{wantOf("a", "s", 1)})
	assert.Equal(t, []string{"a#1"}, ids(extra), "the new one killed, the old one kept")
	assert.Len(t, missing, 1)
}

// TestQuestionedSiblings: a process that was asked for its versions alone, and ended, is not the session's own, where another one was
// launched for the same connection at once.
func TestQuestionedSiblings(t *testing.T) {
	t.Parallel()
	ask := func(p *tape, id string, method record.Method) {
		p.rpc(id, method, "1", "", "received")
		p.rpc(id, method, "1", "", "answered")
	}
	discover := func(p *tape) { ask(p, "a#1", "server/discover") }
	ended := func(p *tape) { p.is(record.SawEOF, "a#1"); p.is(record.Died, "a#1") }
	next := func(p *tape) { p.born("a#2", "a", "s", 2); ask(p, "a#2", "tools/call") }
	reopened := func(p *tape) {
		p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: record.SessionOpening}})
	}
	other := func(label, session string) func(p *tape) {
		return func(p *tape) { p.born("b#1", label, session, 1); ask(p, "b#1", "tools/call") }
	}
	for name, c := range map[string]struct {
		course []func(p *tape)
		probe  bool
	}{
		"in order":               {[]func(p *tape){discover, ended, next}, true},
		"by a signal":            {[]func(p *tape){discover, func(p *tape) { p.signal("a#1", "SIGTERM"); p.is(record.Died, "a#1") }, next}, true},
		"without a word":         {[]func(p *tape){discover, func(p *tape) { p.is(record.Died, "a#1") }, next}, false},
		"it lives":               {[]func(p *tape){discover, func(p *tape) { p.is(record.SawEOF, "a#1") }, next}, false},
		"it worked":              {[]func(p *tape){discover, func(p *tape) { ask(p, "a#1", "tools/call") }, ended, next}, false},
		"the older era":          {[]func(p *tape){func(p *tape) { ask(p, "a#1", "initialize") }, ended, next}, false},
		"nothing after it":       {[]func(p *tape){discover, ended}, false},
		"what follows is silent": {[]func(p *tape){discover, ended, func(p *tape) { p.born("a#2", "a", "s", 2) }}, false},
		"opened anew":            {[]func(p *tape){discover, ended, reopened, next}, false},
		"another label":          {[]func(p *tape){discover, ended, other("b", "s")}, false},
		"another session":        {[]func(p *tape){discover, ended, other("a", "z")}, false},
		"much later": {[]func(p *tape){discover, ended, func(p *tape) {
			from := len(p.events)
			next(p)
			for i := range p.events[from:] {
				p.events[from+i].T += int64(SameMoment)
			}
		}}, false},
		"another life": {[]func(p *tape){discover, ended, func(p *tape) {
			p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
			p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 900, Start: 9}}})
		}, next}, false},
		"beside one that was there before": {[]func(p *tape){func(p *tape) {
			p.born("a#0", "a", "s", 9)
			ask(p, "a#0", "tools/call")
			p.is(record.Died, "a#0")
			p.born("a#3", "a", "s", 8)
			ask(p, "a#3", "server/discover")
			p.is(record.SawEOF, "a#3")
			p.is(record.Died, "a#3")
		}, func(p *tape) { discover(p); ended(p) }}, false},
	} {
		p := &tape{}
		p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 800, Start: 8}}})
		if name != "beside one that was there before" {
			p.born("a#1", "a", "s", 1)
			for _, f := range c.course {
				f(p)
			}
			assert.Equal(t, c.probe, of(p.events).Probe(of(p.events).Server("a#1")), name)
			continue
		}
		c.course[0](p)
		assert.False(t, of(p.events).Probe(of(p.events).Server("a#3")), name)
	}
}

// TestEstablishedWithoutAHandshake: in an era that has none, the first request that is answered establishes a server.
func TestEstablishedWithoutAHandshake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method record.Method
		phase  record.Phase
		want   bool
	}{
		{"tools/call", "answered", true},
		{"tools/list", "answered", true},
		{"tools/call", "refused", false},
		{"tools/list", "received", false},
		{"ping", "answered", false},
	} {
		p := &tape{}
		p.born("a#1", "a", "s", 1)
		p.rpc("a#1", c.method, "1", "", c.phase)
		s := of(p.events).Server("a#1")
		assert.Equal(t, c.want, s.Established >= 0, "%s %s", c.method, c.phase)
		assert.Equal(t, s.Established, s.Working)
	}
	p := &tape{}
	p.born("a#1", "a", "s", 1)
	p.rpc("a#1", "initialize", "0", "", "answered")
	before := of(p.events).Server("a#1").Established
	p.rpc("a#1", "tools/list", "1", "", "answered")
	assert.Equal(t, before, of(p.events).Server("a#1").Established, "a handshake is the beginning")
}

// TestListedServers: a server that an open has launched to list its tools alone, and has ended in order, is not the session's own.
func TestListedServers(t *testing.T) {
	t.Parallel()
	ask := func(p *tape, id string, method record.Method) {
		p.rpc(id, method, "1", "", "received")
		p.rpc(id, method, "1", "", "answered")
	}
	session := func(state record.SessionState) func(p *tape) {
		return func(p *tape) {
			p.add(record.Event{Kind: record.SessionChanged, Session: &record.Session{Name: "s", Label: "a", State: state}})
		}
	}
	step := func(kind record.Kind, op record.Op, ok bool) func(p *tape) {
		return func(p *tape) {
			p.add(record.Event{Kind: kind, Step: &record.Step{N: 8, Op: op, Session: "s", Label: "a", OK: ok}})
		}
	}
	both := func(a, b func(p *tape)) func(p *tape) { return func(p *tape) { a(p); b(p) } }
	over := session(record.SessionEnded)
	opening := both(step(record.StepBegun, record.OpOpen, false), session(record.SessionOpening))
	open := both(session(record.SessionOpen), step(record.StepEnded, record.OpOpen, true))
	failed := both(over, step(record.StepEnded, record.OpOpen, false))
	reloading := both(step(record.StepBegun, record.OpReload, false), session(record.SessionOpening))
	reloaded := both(session(record.SessionOpen), step(record.StepEnded, record.OpReload, true))
	born := func(p *tape) { p.born("a#1", "a", "s", 1); ask(p, "a#1", "initialize") }
	listed := func(p *tape) { ask(p, "a#1", "tools/list") }
	eof, died := func(p *tape) { p.is(record.SawEOF, "a#1") }, func(p *tape) { p.is(record.Died, "a#1") }
	signal := func(p *tape) { p.signal("a#1", "SIGTERM") }
	called := func(p *tape) {
		p.add(record.Event{Kind: record.StepBegun, Step: &record.Step{N: 9, Op: record.OpCall, Session: "s"}})
	}
	next := func(p *tape) { p.born("a#2", "a", "s", 2) }
	for name, c := range map[string]struct {
		course []func(p *tape)
		probe  bool
	}{
		"never called":                {[]func(p *tape){opening, born, listed, eof, died, open}, true},
		"its exit was not waited for": {[]func(p *tape){opening, born, listed, eof, open, died}, true},
		"launched anew by a call":     {[]func(p *tape){opening, born, listed, eof, died, open, called, next}, true},
		"called when it was over":     {[]func(p *tape){opening, born, listed, eof, died, open, over, called}, true},
		"called in vain":              {[]func(p *tape){opening, born, listed, eof, died, open, called}, false},
		"launched for a later open":   {[]func(p *tape){opening, born, listed, eof, died, open, called, opening, next}, false},
		"not asked for a list":        {[]func(p *tape){opening, born, eof, died, open}, false},
		"it worked":                   {[]func(p *tape){opening, born, func(p *tape) { ask(p, "a#1", "tools/call") }, listed, eof, died, open}, false},
		"it does not answer": {[]func(p *tape){opening, born, func(p *tape) {
			p.rpc("a#1", "tools/list", "1", "", "received")
		}, eof, died, open}, false},
		"by a signal":             {[]func(p *tape){opening, born, listed, signal, eof, died, open}, false},
		"without a word":          {[]func(p *tape){opening, born, listed, died, open}, false},
		"it lives":                {[]func(p *tape){opening, born, listed, eof, open}, false},
		"after the open":          {[]func(p *tape){opening, born, listed, open, eof, died}, false},
		"the open failed":         {[]func(p *tape){opening, born, listed, eof, died, failed}, false},
		"for a reload":            {[]func(p *tape){reloading, born, listed, eof, died, reloaded, called, next}, true},
		"beside another open":     {[]func(p *tape){opening, born, listed, session(record.SessionOpen), eof, died, open}, true},
		"launched before":         {[]func(p *tape){born, opening, listed, eof, died, open}, false},
		"nothing of its session":  {[]func(p *tape){born, listed, eof, died}, false},
		"its open has not ended":  {[]func(p *tape){opening, born, listed, eof, died}, false},
		"launched while it is on": {[]func(p *tape){opening, open, born, listed, eof, died, over}, false},
	} {
		p := &tape{}
		p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 800, Start: 8}}})
		for _, f := range c.course {
			f(p)
		}
		assert.Equal(t, c.probe, of(p.events).Probe(of(p.events).Server("a#1")), name)
	}
}
